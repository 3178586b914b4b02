use serde_json::Value;

/// The content of a JSON value; empty when the value has another type.
pub trait Content {
    fn text(&self) -> &str;
    fn number(&self) -> f64;
    fn list(&self) -> &[Value];
    fn fields(&self) -> Vec<(&str, &Value)>;
}

impl Content for Value {
    fn text(&self) -> &str {
        self.as_str().unwrap_or_default()
    }
    fn number(&self) -> f64 {
        self.as_f64().unwrap_or_default()
    }
    fn list(&self) -> &[Value] {
        self.as_array().map_or(&[], Vec::as_slice)
    }
    fn fields(&self) -> Vec<(&str, &Value)> {
        self.as_object().into_iter().flatten().map(|(name, value)| (name.as_str(), value)).collect()
    }
}
