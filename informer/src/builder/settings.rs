//! The settings that all users of an informer have in common, and where two requests differ in them.

use std::any::TypeId;
use std::fmt::Debug;

use informer_core::InformerConfig;
use informer_core::processor::Backlog;
use informer_core::transport::Target;

use super::{Function, InformerBuilder, Kept, Likeness, MakeDecoder, TransformAny};
use crate::error::BuildError;
use crate::factory::{Contrast, Setting, SettingConflict};
use crate::hooks::Hooks;

/// What is fetched and kept. Requests that differ in it are for different informers.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Identity {
    /// The kind alone.
    kind: Target,
    /// In order.
    pub(crate) targets: Vec<Target>,
    cluster: String,
    /// The type of the form.
    form: TypeId,
    kept: Kept,
    packed: bool,
}

/// How it is fetched and kept, and who is told. One informer cannot serve requests that differ in it.
pub(crate) struct Settings<K> {
    decoder: Function<MakeDecoder<K>>,
    transform: Option<Function<TransformAny<K>>>,
    hooks: Hooks,
    config: InformerConfig,
    backlog: Backlog,
}

impl<K: Send + Sync + 'static> InformerBuilder<K> {
    pub(crate) fn identity(&self) -> Result<Identity, BuildError> {
        let Target {
            group,
            version,
            plural,
            ..
        } = self.target()?;
        let mut targets = self.targets()?;
        targets.sort_unstable();
        Ok(Identity {
            kind: Target::new(&group, &version, &plural),
            targets,
            cluster: self.cluster.clone(),
            form: self.form,
            kept: self.kept,
            packed: self.pack.is_some(),
        })
    }

    pub(crate) fn settings(&self) -> Settings<K> {
        Settings {
            decoder: self.decoder.clone(),
            transform: self.transform.clone(),
            hooks: self.hooks.clone(),
            config: self.said.over(self.preset),
            backlog: self.listeners.backlog,
        }
    }
}

impl<K> Settings<K> {
    /// Whether both make their forms by the same function.
    pub(crate) fn likeness_of_forms(&self, other: &Self) -> Likeness {
        self.decoder.likeness(&other.decoder)
    }

    /// Where a request differs from these settings of a running informer.
    pub(crate) fn conflicts(&self, requested: &Self) -> Vec<SettingConflict> {
        let (ours, theirs) = (&self.hooks, &requested.hooks);
        let (of, to) = (self.config, requested.config);
        let found = [
            function(Setting::Form, Some(&self.decoder), Some(&requested.decoder)),
            function(
                Setting::Transform,
                self.transform.as_ref(),
                requested.transform.as_ref(),
            ),
            function(
                Setting::OnFailure,
                ours.on_failure.as_ref(),
                theirs.on_failure.as_ref(),
            ),
            function(
                Setting::OnRejected,
                ours.on_rejected.as_ref(),
                theirs.on_rejected.as_ref(),
            ),
            optional(Setting::Resync, of.resync, to.resync),
            value(Setting::Queue, of.queue, to.queue),
            optional(
                Setting::PageSize,
                of.reflector.page_size,
                to.reflector.page_size,
            ),
            optional(Setting::MaxObjects, of.limits.objects, to.limits.objects),
            optional(Setting::MaxBytes, of.limits.bytes, to.limits.bytes),
            value(Setting::Backlog, self.backlog, requested.backlog),
            preset(&of, &to),
        ];
        found.into_iter().flatten().collect()
    }
}

fn function<F: ?Sized>(
    setting: Setting,
    running: Option<&Function<F>>,
    requested: Option<&Function<F>>,
) -> Option<SettingConflict> {
    let contrast = match (running, requested) {
        (None, None) => return None,
        (Some(_), None) => Contrast::OnlyRunning,
        (None, Some(_)) => Contrast::OnlyRequested,
        (Some(running), Some(requested)) => match running.likeness(requested) {
            Likeness::Same => return None,
            Likeness::Different => Contrast::OtherFunction,
            Likeness::Unclear => Contrast::Captures,
        },
    };
    Some(SettingConflict { setting, contrast })
}

fn value<V: PartialEq + Debug>(
    setting: Setting,
    running: V,
    requested: V,
) -> Option<SettingConflict> {
    (running != requested).then(|| SettingConflict {
        setting,
        contrast: Contrast::Values {
            running: format!("{running:?}"),
            requested: format!("{requested:?}"),
        },
    })
}

fn optional<V: PartialEq + Debug>(
    setting: Setting,
    running: Option<V>,
    requested: Option<V>,
) -> Option<SettingConflict> {
    let text = |value: &Option<V>| match value {
        Some(value) => format!("{value:?}"),
        None => "not set".to_owned(),
    };
    (running != requested).then(|| SettingConflict {
        setting,
        contrast: Contrast::Values {
            running: text(&running),
            requested: text(&requested),
        },
    })
}

/// Compares everything of the preset that has no setting of its own.
fn preset(running: &InformerConfig, requested: &InformerConfig) -> Option<SettingConflict> {
    // No `..`: who adds a field decides here where it belongs.
    let InformerConfig {
        mut reflector,
        queue: _,
        relist,
        rules,
        resync: _,
        same_version,
        on_transform_error,
        store_version,
        limits: _,
    } = *running;
    reflector.page_size = requested.reflector.page_size;
    let fields = [
        ("reflector", reflector == requested.reflector),
        ("relist", relist == requested.relist),
        ("rules", rules == requested.rules),
        ("same_version", same_version == requested.same_version),
        (
            "on_transform_error",
            on_transform_error == requested.on_transform_error,
        ),
        ("store_version", store_version == requested.store_version),
    ];
    let unlike = fields.into_iter().filter(|(_, same)| !same);
    let unlike: Vec<_> = unlike.map(|(name, _)| name).collect();
    (!unlike.is_empty()).then_some(SettingConflict {
        setting: Setting::Preset,
        contrast: Contrast::Fields(unlike),
    })
}
