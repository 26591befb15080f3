//! What every stack is made with: the trait, its context and errors, clocks, settings, descriptions, bodies, and an exchange under way. It opens no
//! socket and speaks no protocol.

pub mod attempt;
pub mod clock;
pub mod context;
pub mod description;
pub mod payload;
pub mod received;
pub mod settings;

use futures_util::future::BoxFuture;
use wirelab_schema::Role;

use crate::{Context, Descriptor, StackError};

/// One protocol stack, in each role it has.
pub trait Stack: Sync {
    /// What it is: name, roles, workloads, settings with units and defaults, its paragraph for people.
    fn descriptor(&self) -> Descriptor;

    /// Plays `role` until the workload is done (client) or the stop signal comes (server).
    fn run(&self, role: Role, context: Context) -> BoxFuture<'static, Result<(), StackError>>;
}
