//! Which of the registered stacks an endpoint's parameters ask for, and whether it does all of it. It speaks no protocol.

use wirelab_schema::{
    ConnectionPolicy, EndpointParameters, Role, RoundTripChange, RoundTripPart, WaitKind, WorkloadSpec,
};

use crate::base::settings::Settings;
use crate::workload::{self, Work};
use crate::{Context, Descriptor, STACKS, Stack, StackError};

/// The registered stack of that name.
pub fn find(name: &str) -> Option<&'static dyn Stack> {
    STACKS.iter().copied().find(|stack| stack.descriptor().name == name)
}

/// The setting with whose value nothing answers an exchange of a client with these parameters, so that it can only be `sent`; none if something
/// answers, and of a protocol that is not registered.
pub fn unanswered(parameters: &EndpointParameters) -> Option<RoundTripChange> {
    let changes = find(&parameters.protocol)?.descriptor().timing.changes;
    let is_upload = matches!(parameters.workload, WorkloadSpec::Telemetry(_));
    changes.into_iter().filter(|_| is_upload).find(|change| {
        let is_set = parameters.settings.get(&change.setting) == Some(&change.value);
        change.part == RoundTripPart::Request && change.round_trips == 0 && is_set
    })
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
    if asks_itself(parameters) && descriptor.success.is_none() {
        return Err(StackError::Unsupported(format!(
            "protocol `{}` has no methods and paths for a `request`",
            descriptor.name
        )));
    }
    if publishes_itself(parameters) && descriptor.topics.is_none() {
        return Err(StackError::Unsupported(format!("protocol `{}` has no topics to `publish` to", descriptor.name)));
    }
    Settings::resolve(&descriptor, &parameters.settings)?;
    workload::check(&parameters.workload)?;
    check_wait(&descriptor, parameters)?;
    Ok(stack)
}

/// Whether the request of every exchange is the user's own.
fn asks_itself(parameters: &EndpointParameters) -> bool {
    matches!(&parameters.workload, WorkloadSpec::RequestResponse(work) if work.request.is_some())
}

/// Whether the topic of every reading is the user's own.
fn publishes_itself(parameters: &EndpointParameters) -> bool {
    matches!(&parameters.workload, WorkloadSpec::Telemetry(work) if work.publish.is_some())
}

/// Refuses a way of waiting that the protocol does not have, or has with other settings only.
fn check_wait(descriptor: &Descriptor, parameters: &EndpointParameters) -> Result<(), StackError> {
    let WorkloadSpec::PubSub(work) = &parameters.workload else { return Ok(()) };
    let Some(way) = work.wait.way() else { return Ok(()) };
    let found = descriptor.waits.iter().find(|known| known.by == way).ok_or_else(|| {
        StackError::Unsupported(match way {
            WaitKind::CheckIn => format!("protocol `{}` keeps nothing for a subscriber that is away", descriptor.name),
            WaitKind::Poll => format!("protocol `{}` fetches nothing by request", descriptor.name),
        })
    })?;
    for need in &found.needs {
        let default =
            || descriptor.settings.iter().find(|setting| setting.name == need.setting).map(|each| &each.default);
        let value = parameters.settings.get(&need.setting).or_else(default);
        if !value.is_some_and(|value| need.values.contains(value)) {
            let (setting, what) = (&need.setting, &need.what);
            let values = need.values.iter().map(ToString::to_string).collect::<Vec<_>>().join(" or ");
            return Err(StackError::Usage(format!("`wait`: it needs {what} (`{setting}` is not {values})")));
        }
    }
    Ok(())
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
