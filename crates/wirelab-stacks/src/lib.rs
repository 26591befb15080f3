//! Protocol stacks for Wirelab's endpoints: one file for each stack, all its roles together.
//!
//! [`STACKS`] lists what is registered. A stack speaks its protocol and nothing else: the arrival process, time-outs, connection policies and
//! outcomes are the driver's ([`workload`]), which is the same for all of them, so that a difference between two stacks is not a difference
//! between two loops. This crate never prints, reads arguments or exits, and reads time only through [`Clock`].

mod amqp;
mod attempt;
mod clock;
mod coap;
pub mod codec;
mod context;
pub mod exec;
mod h1_stamps;
mod h2;
mod h2_frames;
mod h2_stamps;
mod h3;
mod http;
mod http1;
mod mqtt;
mod page;
mod payload;
mod qlog;
mod quic;
mod raw_tcp;
mod raw_udp;
pub mod recorder;
pub mod seen;
mod settings;
mod socket;
mod stream;
mod tap;
mod task;
mod tickets;
mod timing;
mod tls;
mod versions;
pub mod workload;

use futures_util::future::BoxFuture;
pub use wirelab_schema::ProtocolDescription as Descriptor;
use wirelab_schema::{ConnectionPolicy, EndpointParameters, Role, WorkloadSpec};

pub use crate::clock::{Clock, SystemClock, TimersClock};
pub use crate::context::{Context, Ready, StackError, Stop, Stopper, stop_signal};
pub use crate::payload::Payload;
use crate::settings::Settings;
use crate::workload::Work;

/// One protocol stack, in each role it has.
pub trait Stack: Sync {
    /// What it is: name, roles, workloads, settings with units and defaults, its paragraph for people.
    fn descriptor(&self) -> Descriptor;

    /// Plays `role` until the workload is done (client) or the stop signal comes (server).
    fn run(&self, role: Role, context: Context) -> BoxFuture<'static, Result<(), StackError>>;
}

/// Every registered stack, in the order in which people read them.
pub const STACKS: &[&dyn Stack] = &[
    &raw_tcp::RawTcp,
    &raw_udp::RawUdp,
    &http1::HTTP1,
    &http1::HTTPS1,
    &h2::H2C,
    &h2::H2,
    &h3::H3,
    &mqtt::MQTT,
    &mqtt::MQTTS,
    &mqtt::MQTT_QUIC,
    &amqp::AMQP,
    &amqp::AMQPS,
    &coap::COAP,
    &coap::COAPS,
    &coap::COAP_TCP,
    &coap::COAPS_TCP,
];

/// The registered stack of that name.
pub fn find(name: &str) -> Option<&'static dyn Stack> {
    STACKS.iter().copied().find(|stack| stack.descriptor().name == name)
}

/// Runs the endpoint that the context's parameters describe.
///
/// Refuses with [`StackError::Unsupported`] a stack, role, workload or setting that is not registered, and with [`StackError::Usage`] a value that
/// is out of range, before anything is opened.
pub async fn run(mut context: Context) -> Result<(), StackError> {
    let stack = check(&context.parameters)?;
    let has_sessions = || stack.descriptor().settings.iter().any(|setting| setting.name == RESUMPTION);
    let loads_pages = matches!(context.parameters.workload, WorkloadSpec::Page(_));
    if resumes(&context.parameters) || (loads_pages && has_sessions()) {
        context.parameters.settings.insert(RESUMPTION.to_owned(), true.into());
    }
    stack.run(context.parameters.role, context).await
}

/// The stack that the parameters ask for, if it does all that they ask for.
pub fn check(parameters: &EndpointParameters) -> Result<&'static dyn Stack, StackError> {
    let stack = find(&parameters.protocol).ok_or_else(|| {
        let known: Vec<String> = STACKS.iter().map(|stack| stack.descriptor().name).collect();
        StackError::Unsupported(format!("no protocol `{}`; there are {}", parameters.protocol, known.join(", ")))
    })?;
    let descriptor = stack.descriptor();
    if !descriptor.roles.contains(&parameters.role) {
        return Err(StackError::no_role(&descriptor, parameters.role));
    }
    let kind = workload::kind(&parameters.workload);
    if !descriptor.workloads.iter().any(|known| known == kind) {
        return Err(StackError::no_workload(&descriptor, kind));
    }
    let has_certificate = descriptor.settings.iter().any(|setting| setting.name == "certificate-key");
    if has_certificate && parameters.certificates.is_none() {
        return Err(StackError::Usage(format!("protocol `{}` needs `certificates`", descriptor.name)));
    }
    if parameters.role == Role::Publisher && !matches!(Work::of(&parameters.workload), Work::Changes(_)) {
        return Err(StackError::Unsupported(format!("the workload `{kind}` has no publisher")));
    }
    if resumes(parameters) && descriptor.settings.iter().all(|setting| setting.name != RESUMPTION) {
        return Err(StackError::Unsupported(format!(
            "protocol `{}` has no session that could be resumed",
            descriptor.name
        )));
    }
    Settings::resolve(&descriptor, &parameters.settings)?;
    workload::check(&parameters.workload)?;
    Ok(stack)
}

/// Setting of the stacks that can resume a session. The connection policy `resumed` turns it on, and so does `page`, whose loads begin without a
/// session and in which connections after the first resume its, as browsers do.
const RESUMPTION: &str = "resumption";

fn resumes(parameters: &EndpointParameters) -> bool {
    match Work::of(&parameters.workload) {
        Work::Exchanges(work) => work.connection == ConnectionPolicy::Resumed,
        Work::Changes(_) | Work::Page(_) => false,
    }
}

/// Names of the workload kinds that some registered stack does.
pub fn workload_kinds() -> Vec<String> {
    let mut kinds: Vec<String> = STACKS.iter().flat_map(|stack| stack.descriptor().workloads).collect();
    kinds.sort();
    kinds.dedup();
    kinds
}
