//! What every kind of impairment has: a description, what it builds, what is known of it. It lists no kind: [`super`] does.

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::Impairment;
use super::shared::{Position, Shared};
use crate::Seed;
use crate::facts::{Facts, SharedFacts};
use crate::netem::{NetemRefusal, NetemStage};
use crate::queue::QueueSpec;
use crate::spec::{Choices, Place, SpecError};

/// The description of one kind of impairment: the parameters of a stage in a chain.
///
/// Keys carry their units: `_ns`, `_bytes`, `_bps`. Probabilities are fractions in `[0, 1]`.
pub trait Spec: Clone + PartialEq + Serialize + DeserializeOwned + JsonSchema {
    /// A paragraph for people: what it does, with the model's source.
    const ABOUT: &'static str;
    /// Where it stands in a direction's chain unless an experiment says otherwise.
    const SLOT: Slot;

    /// The stage, if it can work. `at` is the place of this description.
    fn build(&self, seed: Seed, at: &Place) -> Result<Box<dyn Impairment>, SpecError>;

    /// Refuse a stage that lets no packet of `mtu` IP bytes pass.
    fn check_mtu(&self, _mtu: u32, _at: &Place) -> Result<(), SpecError> {
        Ok(())
    }

    /// What is known of the stage without sending a packet through it. It may take milliseconds.
    fn facts(&self) -> Facts;

    /// Where its packets wait: as in its facts.
    fn queue(&self) -> Option<&QueueSpec> {
        None
    }

    /// What the kernel's netem does for it.
    fn netem(&self, at: &Place) -> Result<NetemStage, NetemRefusal>;

    /// At least one description that can be built, and one for each of its variants.
    fn examples() -> Vec<Self>;

    /// A random description that can be built.
    fn arbitrary(choices: &mut Choices<'_>) -> Self;
}

/// The description of one kind of stage that both directions share.
pub trait SharedSpec: Clone + PartialEq + Serialize + DeserializeOwned + JsonSchema {
    /// A paragraph for people: what it does, with the model's source.
    const ABOUT: &'static str;
    /// It stands in no chain.
    const SLOT: Option<Slot> = None;
    /// Where packets pass it.
    const POSITION: Position;

    /// The stage, if it can work. `at` is the place of this description.
    fn build(&self, seed: Seed, at: &Place) -> Result<Box<dyn Shared>, SpecError>;

    /// What is known of the stage without sending a packet through it.
    fn facts(&self) -> SharedFacts;

    /// Bytes that its frames add to a packet of `size` IP bytes, each sent once; `None` without frames.
    fn added_bytes(&self, size: u32) -> Option<i64>;

    /// At least one description that can be built, and one for each of its variants.
    fn examples() -> Vec<Self>;

    /// A random description that can be built.
    fn arbitrary(choices: &mut Choices<'_>) -> Self;
}

/// Where an impairment stands in a direction's chain unless an experiment says otherwise: packets pass the slots in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Slot {
    /// Times without a link.
    Outage,
    /// A rate and its queue.
    Rate,
    /// Loss, behind the rate: a lost frame has used its airtime.
    Loss,
    /// Corruption.
    Corrupt,
    /// Duplication.
    Duplicate,
    /// Propagation: only frames that were sent propagate.
    Delay,
    /// Reordering.
    Reorder,
}

/// An entry of a list of kinds.
pub struct Kind<S> {
    /// Its name in a link's description.
    pub name: &'static str,
    /// A paragraph for people, with the model's source.
    pub about: &'static str,
    /// Its default place in a chain; `None` of a shared stage.
    pub slot: Option<Slot>,
    /// See [`Spec::examples`].
    pub examples: fn() -> Vec<S>,
    /// See [`Spec::arbitrary`].
    pub arbitrary: fn(&mut Choices<'_>) -> S,
}

/// The schema of a kind's parameters with its name as `kind`.
pub(crate) fn tagged<S: JsonSchema>(kind: &str, generator: &mut SchemaGenerator) -> Schema {
    let mut schema = S::json_schema(generator);
    let tag = serde_json::json!({"type": "string", "const": kind});
    if let Some(object) = schema.as_object_mut() {
        let properties = object.entry("properties").or_insert_with(|| serde_json::json!({}));
        if let Some(properties) = properties.as_object_mut() {
            properties.insert("kind".to_owned(), tag);
        }
        let required = object.entry("required").or_insert_with(|| serde_json::json!([]));
        if let Some(required) = required.as_array_mut() {
            required.insert(0, "kind".into());
        }
    }
    schema
}

/// Makes an enum of descriptions from a list of kinds, with all that depends on the kind. The trait is [`Spec`] or [`SharedSpec`], and `slot` makes
/// an `Option<Slot>` of its `SLOT`.
macro_rules! kinds {
    (
        $(#[doc = $about:literal])*
        enum $enum:ident, const $table:ident, trait $trait:ident, slot $slot:path;
        $($kind:literal => $name:ident($spec:ty),)*
    ) => {
        $(#[doc = $about])*
        #[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
        #[serde(tag = "kind")]
        pub enum $enum {
            $(
                #[doc = concat!("`", $kind, "`")]
                #[serde(rename = $kind)]
                $name($spec),
            )*
        }

        /// Every kind.
        pub const $table: &[Kind<$enum>] = &[$(
            Kind {
                name: $kind,
                about: <$spec as $trait>::ABOUT,
                slot: $slot(<$spec as $trait>::SLOT),
                examples: || <$spec as $trait>::examples().into_iter().map($enum::$name).collect(),
                arbitrary: |choices| $enum::$name(<$spec as $trait>::arbitrary(choices)),
            },
        )*];

        impl $enum {
            /// `kind` in a link's description.
            pub const fn kind(&self) -> &'static str {
                match self {
                    $(Self::$name(_) => $kind,)*
                }
            }
        }

        $(
            impl From<$spec> for $enum {
                fn from(spec: $spec) -> Self {
                    Self::$name(spec)
                }
            }
        )*

        impl schemars::JsonSchema for $enum {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($enum).into()
            }

            fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
                let kinds = [$($crate::impairment::spec::tagged::<$spec>($kind, generator)),*];
                let about = [$($about),*].map(str::trim).join("\n");
                // Impairments and their slots, in the order in which packets pass them unless an experiment says otherwise.
                let mut slots: Vec<_> = $table.iter().filter_map(|kind| Some((kind.slot?, kind.name))).collect();
                slots.sort_by_key(|(slot, _)| *slot);
                let mut schema = schemars::json_schema!({"description": about, "oneOf": kinds});
                if !slots.is_empty() {
                    schema.insert("x-slots".to_owned(), serde_json::json!(slots));
                }
                schema
            }
        }
    };
}

pub(crate) use kinds;
