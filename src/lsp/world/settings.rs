//! Applies the settings of the client.

use std::sync::Arc;

use serde_json::Value;
use tower_lsp::lsp_types as lsp;

use super::is_traced;
use crate::config;
use crate::ordered::Ordered;

impl Ordered {
    pub(crate) fn set_trace(&mut self, params: lsp::SetTraceParams) {
        let world = &mut self.world;
        world.initial_settings.trace = is_traced(params.value);
        Arc::make_mut(&mut world.snapshot.settings).trace = world.initial_settings.trace;
    }

    /// Handles changed settings. Clients that support it are asked for their settings; others send
    /// them in the notification.
    pub(crate) fn did_change_configuration(&mut self, params: lsp::DidChangeConfigurationParams) {
        if self.world.snapshot.client.configuration {
            return self.pull_configuration();
        }
        let section = config::section_among_others(&params.settings).cloned();
        self.configured(&section.map_or(Value::Null, Value::Object));
    }

    pub(crate) fn configured(&mut self, configuration: &Value) {
        let (settings, problems) = self.world.initial_settings.overridden_by(configuration);
        let warnings = self.world.not_warned_yet(problems);
        self.warn(warnings);
        if *self.world.snapshot.settings == settings {
            return;
        }
        self.world.snapshot.settings = Arc::new(settings);
        self.refresh();
        for open in Vec::from_iter(self.world.snapshot.documents.values().cloned()) {
            self.diagnose_soon(open.uri.clone());
        }
        for root in Vec::from_iter(self.world.snapshot.workspaces.loaded.keys().cloned()) {
            self.diagnose_unopened(root);
        }
    }
}
