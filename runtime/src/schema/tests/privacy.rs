//! What a violation tells.

use super::*;

// D-42
#[test]
fn violations_tell_nothing_about_the_value() {
    let secret = "s3cret";
    let leaf = [json!(secret), json!(41_412_413), json!([secret]), json!({ secret: secret }), json!(null)];
    let schemas = [
        json!({ "type": "boolean" }),
        json!({ "const": "a" }),
        json!({ "type": "string", "maxLength": 3, "pattern": "^b" }),
        json!({ "maximum": 5 }),
        json!({ "maxItems": 0 }),
        json!({ "items": { "type": "boolean" } }),
        json!({ "additionalProperties": false }),
        json!({ "additionalProperties": { "type": "boolean" } }),
        json!({ "propertyNames": { "maxLength": 2 } }),
        json!({ "anyOf": [{ "type": "boolean" }, { "additionalProperties": { "minimum": 7, "type": "number" }, "type": "object" }] }),
        json!({ "oneOf": [{ "type": "boolean" }] }),
        json!({ "x-format": "url" }),
    ];
    let numeric = json!({ "additionalProperties": { "type": "null" } });
    assert_eq!(broken(numeric.clone(), json!({ "41412413": 1 })), ("$.*".into(), "null".into()));
    let mut raw = numeric;
    raw["$schema"] = "http://json-schema.org/draft-07/schema#".into();
    assert_eq!(broken(raw, json!({ "41412413": [1] })), ("$.*".into(), "null".into()));
    let mut seen = 0;
    for schema in schemas {
        for raw in [false, true] {
            let mut schema = json!({ "type": "object", "properties": { "p": schema }, "required": ["q"] });
            if raw {
                if schema["properties"]["p"].get("x-format").is_some() {
                    continue;
                }
                schema["$schema"] = "http://json-schema.org/draft-07/schema#".into();
            }
            for value in &leaf {
                for value in [json!({ "p": value, "q": secret }), json!({ "p": value })] {
                    if let Err(violation) = compile(&schema).check(value) {
                        let text = format!("{violation:?}");
                        assert!(!text.contains(secret) && !text.contains("41412413"), "{text}");
                        seen += 1;
                    }
                }
            }
        }
    }
    assert!(seen > 100, "{seen}");
}
