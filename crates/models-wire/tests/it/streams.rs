//! Properties of streams: no cut changes what comes out, and no bytes break the reader.

use heddle_models_wire::{Family, MAX_FRAME, Target};
use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::json;

use crate::support::{cut, hello, request, target, with};

const STREAMING: [Family; 4] = [Family::OpenAi, Family::Anthropic, Family::Gemini, Family::Ollama];

/// A stream of each family with the same texts, some of which the wire's own marks could be taken for.
fn stream(family: Family, texts: &[String], whole: bool) -> Vec<u8> {
    let mut out = String::new();
    let mut frame = |value: serde_json::Value| match family {
        Family::Ollama => out.push_str(&format!("{value}\n")),
        Family::Anthropic => {
            out.push_str(&format!("event: {}\r\ndata: {value}\r\n\r\n", value["type"].as_str().unwrap()));
        }
        Family::OpenAi | Family::AzureOpenAi | Family::Gemini => {
            out.push_str(&format!(": c\ndata: {value}\n\n"))
        }
    };
    if family == Family::Anthropic {
        frame(json!({"type": "message_start", "message": {"model": "c", "usage": {"input_tokens": 3}}}));
        frame(
            json!({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}),
        );
    }
    for text in texts {
        frame(match family {
            Family::OpenAi | Family::AzureOpenAi => {
                json!({"choices": [{"index": 0, "delta": {"content": text}}]})
            }
            Family::Anthropic => {
                json!({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": text}})
            }
            Family::Gemini => json!({"candidates": [{"content": {"parts": [{"text": text}]}}]}),
            Family::Ollama => json!({"message": {"content": text}, "done": false}),
        });
    }
    if whole {
        match family {
            Family::OpenAi | Family::AzureOpenAi => {
                frame(json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}));
                frame(json!({"choices": [], "usage": {"prompt_tokens": 1, "completion_tokens": 2}}));
            }
            Family::Anthropic => {
                frame(json!({"type": "content_block_stop", "index": 0}));
                frame(json!({"type": "message_delta", "delta": {"stop_reason": "end_turn"}}));
                frame(json!({"type": "message_stop"}));
            }
            Family::Gemini => frame(json!({"candidates": [{"finishReason": "STOP"}]})),
            Family::Ollama => frame(json!({"message": {"content": ""}, "done": true})),
        }
    }
    if whole && family.is_openai() {
        out.push_str("data: [DONE]\n\n");
    }
    out.into_bytes()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn any_cut_of_a_stream_gives_the_same(
        family in 0usize..4,
        texts in vec("(data: |\\[DONE\\]|\\PC|\n|\r|\u{1f600}){0,8}", 0..6),
        cuts in vec(any::<prop::sample::Index>(), 0..12),
        whole in any::<bool>(),
    ) {
        let family = STREAMING[family];
        let bytes = stream(family, &texts, whole);
        let asked = request(with(hello(), json!({"stream": true, "stream_options": {"include_usage": true}})));
        let once = cut(&target(family), &asked, &bytes, &[]);
        prop_assert_eq!(once.done, whole, "{:?}", &once.error);
        let said: String =
            once.chunks.iter().filter_map(|chunk| chunk["choices"][0]["delta"]["content"].as_str()).collect();
        prop_assert_eq!(said, texts.concat());
        let mut places: Vec<usize> = cuts.iter().map(|place| place.index(bytes.len() + 1)).collect();
        places.sort_unstable();
        prop_assert_eq!(&cut(&target(family), &asked, &bytes, &places), &once);
        let each: Vec<usize> = (1..bytes.len()).collect();
        prop_assert_eq!(&cut(&target(family), &asked, &bytes, &each), &once);
    }

    #[test]
    fn no_bytes_break_the_reader(
        family in 0usize..4,
        texts in vec("\\PC{0,8}", 0..4),
        changes in vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
        size in 1usize..40,
    ) {
        let family = STREAMING[family];
        let mut bytes = stream(family, &texts, true);
        for (place, byte) in changes {
            let place = place.index(bytes.len());
            bytes[place] = byte;
        }
        let asked = request(with(hello(), json!({"stream": true})));
        let once = cut(&target(family), &asked, &bytes, &[]);
        prop_assert_eq!(once.done, once.error.is_none());
        let cuts: Vec<usize> = (size..bytes.len()).step_by(size).collect();
        prop_assert_eq!(&cut(&target(family), &asked, &bytes, &cuts), &once);
    }

    #[test]
    fn no_request_breaks_a_family(
        body in "\\PC{0,60}",
        name in "(n|stream|model|max_tokens|tools|[a-z_]{1,10})",
        text in "\\PC{0,20}",
    ) {
        let _unread = heddle_models_wire::ChatRequest::read(body.into());
        // A name may be one that is read, and the text none that it takes: then it is refused by that name.
        let whole = with(hello(), json!({"stream": false, "odd": null, name.as_str(): text}));
        match heddle_models_wire::ChatRequest::read(whole.to_string().into()) {
            Ok(asked) => {
                for family in Family::ALL {
                    let _refused = Target::new(family, "m").chat(&asked);
                }
            }
            Err(refused) => prop_assert_eq!(refused.at(), Some(name.as_str())),
        }
    }
}

#[test]
fn a_frame_beyond_the_bound_is_an_error_and_holds_no_more_than_it() {
    let asked = request(with(hello(), json!({"stream": true})));
    for family in STREAMING {
        let mut decoder = target(family).stream(&asked, crate::support::answer());
        let piece = vec![b'a'; 1024 * 1024];
        let mut pushed = 0;
        let error = loop {
            match decoder.push(if pushed == 0 { b"data: " } else { &piece }, &mut Vec::new()) {
                Ok(()) => pushed += piece.len(),
                Err(error) => break error,
            }
            assert!(pushed < 2 * MAX_FRAME);
        };
        assert_eq!(error.to_string(), "the provider's answer is larger than is taken");
    }
}
