//! Embeddings of every family.

use bytes::Bytes;
use heddle_models_wire::{AnswerFault, EmbeddingRequest, Encoding, Family, Usage, WireError};
use serde_json::{Value, json};

use crate::support::target;

fn read(body: Value) -> Result<EmbeddingRequest, WireError> {
    EmbeddingRequest::read(Bytes::from(body.to_string()))
}

fn inputs(input: Value) -> EmbeddingRequest {
    read(json!({"model": "m", "input": input})).unwrap()
}

fn bodies(family: Family, request: &EmbeddingRequest, batch: usize) -> Vec<Value> {
    let sent = target(family).embeddings(request, batch).unwrap();
    sent.iter().map(|sent| serde_json::from_slice(&sent.body).unwrap()).collect()
}

#[test]
fn inputs_come_in_four_shapes_and_nothing_else() {
    for (input, count) in
        [(json!("text"), 1), (json!(["a", "b"]), 2), (json!([1, 2, 3]), 1), (json!([[1, 2], [3]]), 2)]
    {
        assert_eq!(inputs(input).len(), count);
    }
    for (body, member) in [
        (json!({"model": "m"}), "input"),
        (json!({"model": "m", "input": null}), "input"),
        (json!({"model": "m", "input": []}), "input"),
        (json!({"model": "m", "input": ""}), "input[0]"),
        (json!({"model": "m", "input": ["a", ""]}), "input[1]"),
        (json!({"model": "m", "input": [[1], []]}), "input[1]"),
        (json!({"model": "m", "input": [1, "a"]}), "input"),
        (json!({"model": "m", "input": [1.5]}), "input[0]"),
        (json!({"model": "m", "input": {"a": 1}}), "input"),
        (json!({"model": "m", "input": "a", "dimensions": 0}), "dimensions"),
        (json!({"model": "m", "input": "a", "encoding_format": "hex"}), "encoding_format"),
        (json!({"input": "a"}), "model"),
    ] {
        assert_eq!(read(body.clone()).unwrap_err().at(), Some(member), "{body}");
    }
    assert_eq!(inputs(json!([[1, 2], [3]])).estimated_tokens(), 3);
}

#[test]
fn defaults_stand_for_what_a_request_leaves_out() {
    let defaults =
        json!({"dimensions": 256, "taskType": "RETRIEVAL_QUERY", "encoding_format": "base64", "title": null});
    let plain = inputs(json!("a")).with_defaults(defaults.as_object().unwrap()).unwrap();
    assert_eq!((plain.dimensions(), plain.encoding()), (Some(256), Encoding::Base64));
    let told = bodies(Family::Gemini, &plain, 10).remove(0);
    assert_eq!((&told["taskType"], &told["outputDimensionality"]), (&json!("RETRIEVAL_QUERY"), &json!(256)));
    let own = read(json!({"model": "m", "input": "a", "dimensions": 64})).unwrap();
    let own = own.with_defaults(defaults.as_object().unwrap()).unwrap();
    assert_eq!(own.dimensions(), Some(64), "what the request says stands");
    let wrong = json!({"dimensions": "many"});
    assert_eq!(own.with_defaults(wrong.as_object().unwrap()).unwrap().dimensions(), Some(64));
    let error = inputs(json!("a")).with_defaults(wrong.as_object().unwrap()).unwrap_err();
    assert_eq!(error.at(), Some("dimensions"));
}

#[test]
fn more_inputs_than_a_provider_takes_go_in_batches_and_come_back_in_order() {
    let request = inputs(json!(["a", "b", "c", "d", "e"]));
    let sent = bodies(Family::OpenAi, &request, 2);
    assert_eq!(
        sent.iter().map(|body| body["input"].clone()).collect::<Vec<_>>(),
        [json!(["a", "b"]), json!(["c", "d"]), json!(["e"])]
    );
    let item =
        |index: usize, value: f32| json!({"object": "embedding", "index": index, "embedding": [value, 0.5]});
    let usage = json!({"prompt_tokens": 2, "total_tokens": 2});
    let answers = [
        json!({"data": [item(1, 2.0), item(0, 1.0)], "model": "x", "usage": usage}),
        json!({"data": [item(0, 3.0), item(1, 4.0)], "model": "x", "usage": usage}),
        json!({"data": [item(0, 5.0)], "model": "x", "usage": usage}),
    ];
    let answers: Vec<Bytes> = answers.iter().map(|body| Bytes::from(body.to_string())).collect();
    let response = target(Family::OpenAi).embedding_response(&request, 2, answers.clone()).unwrap();
    let firsts: Vec<f32> = response.vectors().unwrap().iter().map(|vector| vector[0]).collect();
    assert_eq!(firsts, [1.0, 2.0, 3.0, 4.0, 5.0]);
    assert_eq!(response.usage, Some(Usage { input: 6, ..Usage::default() }));
    let fewer = target(Family::OpenAi).embedding_response(&request, 2, answers[..2].to_vec());
    assert_eq!(fewer.unwrap_err(), WireError::Answer(AnswerFault::Truncated));
}

#[test]
fn a_single_answer_passes_in_its_bytes_and_is_made_anew_only_for_another_encoding() {
    let plain = inputs(json!(["a"]));
    let body = Bytes::from(
        r#"{"object":"list","data":[{"object":"embedding","index":0,"embedding":[0.10, 1e0]}],"model":"x","extra":1,"usage":{"prompt_tokens":3,"total_tokens":3}}"#,
    );
    let response = target(Family::OpenAi).embedding_response(&plain, 8, vec![body.clone()]).unwrap();
    assert_eq!(response.body, body);
    let base64 = read(json!({"model": "m", "input": ["a"], "encoding_format": "base64"})).unwrap();
    let response = target(Family::OpenAi).embedding_response(&base64, 8, vec![body]).unwrap();
    let told: Value = serde_json::from_slice(&response.body).unwrap();
    assert_eq!(told["data"][0]["embedding"], "zczMPQAAgD8=", "floats of 32 bits, lowest byte first");
    assert_eq!(response.vectors().unwrap(), [[0.1, 1.0]]);
}

#[test]
fn vectors_that_are_none_are_errors() {
    let two = inputs(json!(["a", "b"]));
    let item = |index: usize, embedding: Value| json!({"index": index, "embedding": embedding});
    for (data, fault) in [
        (json!([item(0, json!([1.0]))]), AnswerFault::Truncated),
        (json!([item(0, json!([1.0])), item(0, json!([1.0]))]), AnswerFault::Malformed),
        (json!([item(0, json!([1.0])), item(1, json!([1.0, 2.0]))]), AnswerFault::Malformed),
        (json!([item(0, json!([])), item(1, json!([]))]), AnswerFault::Malformed),
        (json!([item(0, json!("AAA=")), item(1, json!("AAAA"))]), AnswerFault::Malformed),
        (json!([item(0, json!(["x"])), item(1, json!([1.0]))]), AnswerFault::Malformed),
        (json!([item(0, json!("AADAfw==")), item(1, json!("AADAfw=="))]), AnswerFault::Malformed),
    ] {
        let body = Bytes::from(json!({"data": data}).to_string());
        let error = target(Family::OpenAi).embedding_response(&two, 8, vec![body]).unwrap_err();
        assert_eq!(error, WireError::Answer(fault), "{data}");
    }
    let three = read(json!({"model": "m", "input": "a", "dimensions": 3})).unwrap();
    let body = Bytes::from(json!({"data": [item(0, json!([1.0, 2.0]))]}).to_string());
    let error = target(Family::OpenAi).embedding_response(&three, 8, vec![body]).unwrap_err();
    assert_eq!(error, WireError::Answer(AnswerFault::Malformed), "not the dimensions asked for");
}

#[test]
fn gemini_embeds_one_by_one_method_and_many_by_another() {
    let one =
        read(json!({"model": "m", "input": "a", "dimensions": 2, "taskType": "RETRIEVAL_QUERY"})).unwrap();
    let sent = target(Family::Gemini).embeddings(&one, 100).unwrap();
    assert_eq!(sent[0].path, "/v1beta/models/their-model:embedContent");
    assert_eq!(
        bodies(Family::Gemini, &one, 100)[0],
        json!({"model": "models/their-model", "outputDimensionality": 2, "taskType": "RETRIEVAL_QUERY",
            "content": {"parts": [{"text": "a"}]}})
    );
    let many = inputs(json!(["a", "b", "c"]));
    let sent = target(Family::Gemini).embeddings(&many, 2).unwrap();
    assert_eq!(
        sent.iter().map(|sent| sent.path.rsplit(':').next().unwrap()).collect::<Vec<_>>(),
        ["batchEmbedContents", "embedContent"]
    );
    assert_eq!(bodies(Family::Gemini, &many, 2)[0]["requests"].as_array().unwrap().len(), 2);
    let answers = [
        json!({"embeddings": [{"values": [1.0]}, {"values": [2.0]}]}),
        json!({"embedding": {"values": [3.0]}}),
    ];
    let answers = answers.iter().map(|body| Bytes::from(body.to_string())).collect();
    let response = target(Family::Gemini).embedding_response(&many, 2, answers).unwrap();
    assert_eq!(response.vectors().unwrap(), [[1.0], [2.0], [3.0]]);
    assert_eq!(response.usage, None);
    let tokens = inputs(json!([1, 2]));
    for family in [Family::Gemini, Family::Ollama, Family::Anthropic] {
        assert_eq!(target(family).embeddings(&tokens, 8).unwrap_err().at(), Some("input"));
    }
    let odd = read(json!({"model": "m", "input": "a", "user": "u"})).unwrap();
    assert_eq!(target(Family::Gemini).embeddings(&odd, 8).unwrap_err().at(), Some("user"));
}

#[test]
fn ollama_embeds_and_cuts_nothing_off() {
    let request = inputs(json!(["a", "b"]));
    assert_eq!(
        bodies(Family::Ollama, &request, 8),
        [json!({"model": "their-model", "input": ["a", "b"], "truncate": false})]
    );
    let body = json!({"model": "x", "embeddings": [[1.0, 0.0], [0.0, 1.0]], "prompt_eval_count": 4});
    let response =
        target(Family::Ollama).embedding_response(&request, 8, vec![Bytes::from(body.to_string())]).unwrap();
    assert_eq!((response.usage.unwrap().input, response.vectors().unwrap().len()), (4, 2));
    let texts = EmbeddingRequest::of_texts("m", &["a".to_owned()], Some(3)).unwrap();
    assert_eq!(
        (texts.dimensions(), texts.encoding(), texts.texts().unwrap()),
        (Some(3), Encoding::Float, vec!["a".to_owned()])
    );
}
