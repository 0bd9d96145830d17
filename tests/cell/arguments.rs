//! What a callback is given: one frozen JSON value and nothing else (3.1, CB-49, CB-77).

use callcell_runtime::CallbackKind;
use callcell_tests::{KINDS, callback, diff_selector, pass_rule};
use serde_json::{Value, json};

/// The body of a callback of any kind that returns what the kind asks for, if `condition` holds.
fn good_if(kind: CallbackKind, condition: &str) -> String {
    let good = match kind {
        CallbackKind::Tool => "{}",
        CallbackKind::Evaluator => "1",
        CallbackKind::DiffSelector | CallbackKind::JudgeSelector => "[]",
        CallbackKind::PassRule => "true",
    };
    format!("if (!({condition})) throw new Error('no'); return {good};")
}

// CB-49, CB-69
#[test]
fn there_is_one_argument_and_no_this() {
    for kind in KINDS {
        callback(kind, "", &good_if(kind, "arguments.length === 1 && this === undefined")).outcome(json!({ "a": 1 }));
    }
}

// CB-77, D-31
#[test]
fn every_kind_of_mutation_throws() {
    let argument = json!({ "list": [1, { "deep": [] }], "object": { "key": "value" }, "empty": {} });
    let mutations = [
        "input.new = 1",
        "input.list = 1",
        "delete input.list",
        "input.list.push(1)",
        "input.list.length = 0",
        "input.list[0] = 2",
        "input.list[2] = 2",
        "input.list[1].deep.push(1)",
        "input.list.reverse()",
        "input.object.key = 'other'",
        "input.empty.key = 1",
        "input.object.__proto__ = {}",
        "Object.setPrototypeOf(input, null)",
        "Object.defineProperty(input, 'list', { value: 1 })",
        "Object.defineProperty(input.list, 'length', { value: 9 })",
        "Object.assign(input, { list: [] })",
    ];
    for mutation in mutations {
        let body = format!(
            "try {{ {mutation}; }} catch (error) {{ return [error instanceof TypeError, input]; }} return 'no error';"
        );
        assert_eq!(diff_selector(&body).value(argument.clone()), json!([true, argument]), "{mutation}");
    }
}

// D-31
#[test]
fn arguments_are_frozen_all_the_way_down() {
    let body = "const all = (value) => typeof value !== 'object' || value === null
            || (Object.isFrozen(value) && Object.values(value).every(all));
        return all(input);";
    for argument in [json!({ "a": [{ "b": [[], {}] }] }), json!([1, [2]]), json!({}), json!([]), json!("text")] {
        assert_eq!(diff_selector(body).value(argument.clone()), json!(true), "{argument}");
    }
    assert_eq!(pass_rule("return Object.isFrozen(input);").value(json!({ "a": 1 })), json!(true));
}

// CB-78
#[test]
fn a_copy_of_the_arguments_can_be_changed() {
    let body = "const copy = JSON.parse(JSON.stringify(input)); copy.list.push(3); return [input, copy];";
    let value = diff_selector(body).value(json!({ "list": [1, 2] }));
    assert_eq!(value, json!([{ "list": [1, 2] }, { "list": [1, 2, 3] }]));
}

// 3.1
#[test]
fn objects_come_in_as_ordinary_objects_and_arrays() {
    let body = "return [Object.getPrototypeOf(input) === Object.prototype, Array.isArray(input.list),
        Object.getPrototypeOf(input.list) === Array.prototype, input.hasOwnProperty('list'), Object.keys(input)];";
    let value = diff_selector(body).value(json!({ "list": [], "b": 1, "a": 2 }));
    assert_eq!(value, json!([true, true, true, true, ["list", "b", "a"]]));
}

// 3.1
#[test]
fn proto_in_data_is_an_own_property() {
    let body = "return [Object.keys(input), Object.getPrototypeOf(input) === Object.prototype, input.polluted ?? null,
        Object.getPrototypeOf(input.inner) === Object.prototype, ({}).polluted ?? null, input];";
    let argument: Value =
        serde_json::from_str(r#"{"__proto__":{"polluted":1},"inner":{"__proto__":null}}"#).expect("it is JSON");
    let expected = json!([["__proto__", "inner"], true, null, true, null, argument]);
    assert_eq!(diff_selector(body).value(argument), expected);
}

// 1.4, EV-99
#[test]
fn scores_have_no_prototype() {
    let body =
        "return Object.getPrototypeOf(input) === null && !('constructor' in input) && input.toString === undefined
        && Object.keys(input).join() === 'fields,meaning' && input.fields === 0.5;";
    assert_eq!(pass_rule(body).value(json!({ "fields": 0.5, "meaning": 1 })), json!(true));
}

// 1.4
#[test]
fn scores_may_have_any_legal_name() {
    let names = ["constructor", "toString", "hasOwnProperty", "valueOf", "isPrototypeOf", "length", "then", "toJSON"];
    let scores: serde_json::Map<String, Value> = names.iter().map(|name| ((*name).into(), json!(0.25))).collect();
    let body = "return Object.keys(input).length === 8 && Object.values(input).every((score) => score === 0.25)
        && input.constructor === 0.25 && Object.getPrototypeOf(input) === null;";
    assert_eq!(pass_rule(body).value(Value::Object(scores)), json!(true));
    let proto: Value = serde_json::from_str(r#"{"__proto__":0.5}"#).expect("it is JSON");
    assert_eq!(
        pass_rule("return input.__proto__ === 0.5 && Object.keys(input).length === 1;").value(proto),
        json!(true)
    );
}

// 3.1
#[test]
fn scalars_and_every_text_arrive_as_they_are() {
    let texts = [
        "",
        "\0",
        "a\0b",
        "\u{2028}\u{2029}",
        "\u{7f}\u{80}",
        "🌍é한",
        "\"\\/\u{8}\u{c}\n\r\t\u{1f}",
        "\u{feff}x",
        "\u{fffd}",
        "\u{d7ff}\u{e000}",
    ];
    let echo = diff_selector("return input;");
    for text in texts {
        assert_eq!(echo.value(json!(text)), json!(text));
        let member = Value::Object([(text.to_owned(), json!([text]))].into_iter().collect());
        assert_eq!(echo.value(member.clone()), member);
    }
    for scalar in
        [json!(null), json!(true), json!(false), json!(0), json!(-1), json!(123_456_789), json!(1_234_567_890_u64)]
    {
        assert_eq!(echo.value(scalar.clone()), scalar);
    }
    let numbers =
        [0.1, -2.5, 5e-324, f64::MAX, -f64::MIN_POSITIVE, 9_007_199_254_740_993.0, 1e21, 1e-7, 4_294_967_296.0];
    for number in numbers {
        assert_eq!(echo.value(json!(number)).as_f64(), Some(number));
    }
    let minus_zero = diff_selector("return Object.is(input, -0);").value(json!(-0.0));
    assert_eq!(minus_zero, json!(true));
}

// D-34
#[test]
fn arguments_may_nest_128_levels() {
    let nested = |levels: usize| (0..levels).fold(json!(1), |inner, _| json!([inner]));
    let depth =
        diff_selector("let depth = 0; for (let at = input; Array.isArray(at); at = at[0]) depth++; return depth;");
    assert_eq!(depth.value(nested(128)), json!(128));
    for levels in [129, 5_000] {
        let error = depth.call(nested(levels)).expect_err("too deep");
        assert_eq!((error.code(), error.usage), ("R_ARGS_TOO_LARGE", None));
    }
}
