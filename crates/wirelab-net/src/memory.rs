//! A file system in memory whose files are made of huge pages (2 MiB on x86-64): a program that maps one takes one page fault where it takes 512
//! otherwise.
#![allow(unsafe_code)]

use std::ffi::CStr;
use std::fs;
use std::io::{self, IoSlice, IoSliceMut};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::path::Path;
use std::ptr;

use nix::cmsg_space;
use nix::libc;
use nix::sched::{CloneFlags, unshare};
use nix::sys::socket::{
    AddressFamily, ControlMessage, ControlMessageOwned, MsgFlags, SockFlag, SockType, recvmsg, sendmsg, socketpair,
};
use nix::sys::statfs::{TMPFS_MAGIC, statfs};
use nix::sys::wait::waitpid;
use nix::unistd::{ForkResult, fork, getegid, geteuid};

/// True if what lies in this folder lies in memory.
pub fn is_memory(folder: &Path) -> bool {
    statfs(folder).is_ok_and(|found| found.filesystem_type() == TMPFS_MAGIC)
}

/// Its root, mounted nowhere: it vanishes with the last descriptor and the last file. Fails where the caller may neither mount nor make a user
/// namespace. Call it before any thread exists.
pub fn huge_pages() -> io::Result<OwnedFd> {
    mount().or_else(|_| mount_in_a_user_namespace())
}

/// By fsmount(2), for which the libraries have no function.
fn mount() -> io::Result<OwnedFd> {
    const SET_STRING: i32 = 1;
    const CREATE: i32 = 6;
    const CLOEXEC: i32 = 1;
    let none = ptr::null::<libc::c_char>();
    // SAFETY: the names are C strings that outlive the calls.
    let context = unsafe { owned(libc::syscall(libc::SYS_fsopen, c"tmpfs".as_ptr(), CLOEXEC)) }?;
    let configure = |command: i32, key: Option<&CStr>, value: Option<&CStr>| {
        let [key, value] = [key, value].map(|text| text.map_or(none, CStr::as_ptr));
        // SAFETY: as above, or null where the command takes none.
        let result = unsafe { libc::syscall(libc::SYS_fsconfig, context.as_raw_fd(), command, key, value, 0) };
        if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
    };
    configure(SET_STRING, Some(c"huge"), Some(c"always"))?;
    configure(SET_STRING, Some(c"mode"), Some(c"0700"))?;
    configure(CREATE, None, None)?;
    // SAFETY: no pointers.
    unsafe { owned(libc::syscall(libc::SYS_fsmount, context.as_raw_fd(), CLOEXEC, libc::MOUNT_ATTR_NOSUID)) }
}

/// # Safety
///
/// `result` is that of a system call which opens a descriptor for the caller alone.
unsafe fn owned(result: libc::c_long) -> io::Result<OwnedFd> {
    if result < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: by the caller.
    Ok(unsafe { OwnedFd::from_raw_fd(result as RawFd) })
}

/// A child makes it, for this process must stay where it is: in a user namespace, files of others are nobody's.
fn mount_in_a_user_namespace() -> io::Result<OwnedFd> {
    // Of a kind whose reader learns that the child has ended without a word.
    let (ours, its) = socketpair(AddressFamily::Unix, SockType::SeqPacket, None, SockFlag::SOCK_CLOEXEC)?;
    // SAFETY: this process has one thread, so that the child may do what it could.
    match unsafe { fork() }? {
        ForkResult::Child => {
            let made = enter_user_namespace().and_then(|()| mount());
            let descriptors: Vec<RawFd> = made.iter().map(AsRawFd::as_raw_fd).collect();
            let sent = [ControlMessage::ScmRights(&descriptors)];
            let _ = sendmsg::<()>(its.as_raw_fd(), &[IoSlice::new(&[0])], &sent, MsgFlags::empty(), None);
            // SAFETY: the parent's buffers and handlers are not the child's to flush and run.
            unsafe { libc::_exit(0) }
        }
        ForkResult::Parent { child } => {
            drop(its);
            let received = receive(&ours);
            waitpid(child, None)?;
            received
        }
    }
}

fn enter_user_namespace() -> io::Result<()> {
    let (user, group) = (geteuid().as_raw(), getegid().as_raw());
    unshare(CloneFlags::CLONE_NEWUSER | CloneFlags::CLONE_NEWNS)?;
    fs::write("/proc/self/setgroups", "deny")?;
    fs::write("/proc/self/uid_map", format!("{user} {user} 1"))?;
    fs::write("/proc/self/gid_map", format!("{group} {group} 1"))
}

fn receive(socket: &OwnedFd) -> io::Result<OwnedFd> {
    let (mut byte, mut space) = ([0], cmsg_space!([RawFd; 1]));
    let mut parts = [IoSliceMut::new(&mut byte)];
    let message = recvmsg::<()>(socket.as_raw_fd(), &mut parts, Some(&mut space), MsgFlags::MSG_CMSG_CLOEXEC)?;
    let descriptors = message.cmsgs()?.find_map(|each| match each {
        ControlMessageOwned::ScmRights(descriptors) => descriptors.first().copied(),
        _ => None,
    });
    let descriptor = descriptors.ok_or(io::ErrorKind::PermissionDenied)?;
    // SAFETY: the kernel has just opened it for this process alone.
    Ok(unsafe { OwnedFd::from_raw_fd(descriptor) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_machines_folders_of_programs_are_not_in_memory() {
        assert!(!is_memory(Path::new("/proc")) && !is_memory(Path::new("/nonexistent")));
    }
}
