//! JSON Schemas, compiled.

use boon::{Compiler, SchemaIndex, Schemas};
use serde_json::Value;

pub struct Schema {
    schemas: Schemas,
    index: SchemaIndex,
}

impl Schema {
    /// Panics if this is not a valid schema.
    pub fn of(schema: &Value) -> Self {
        const NAME: &str = "schema.json";
        let (mut schemas, mut compiler) = (Schemas::new(), Compiler::new());
        compiler.add_resource(NAME, schema.clone()).expect("a name");
        let index = compiler.compile(NAME, &mut schemas).unwrap_or_else(|why| panic!("{why}"));
        Self { schemas, index }
    }

    /// Returns what is wrong with a value, or `None`.
    pub fn complaint(&self, value: &Value) -> Option<String> {
        self.schemas.validate(value, self.index).err().map(|why| format!("{why:#}"))
    }

    pub fn accepts(&self, value: &Value) -> bool {
        self.complaint(value).is_none()
    }
}
