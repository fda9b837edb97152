//! Blocks of content, as parts and members of messages.

use serde_json::{Map, Value, json};

use super::ask::{UNKNOWN, nothing_more};
use crate::error::WireError;
use crate::message::{Content, FunctionCall, Message, Role, ToolCall};

type Block = Map<String, Value>;

const CACHE: &str = "cache_control";

/// The instructions; none where there is no text.
pub(super) fn system(content: Content, path: &str) -> Result<Option<Message>, WireError> {
    let content = match content {
        Content::Text(text) if text.is_empty() => return Ok(None),
        Content::Text(text) => Content::Text(text),
        Content::Parts(blocks) if blocks.is_empty() => return Ok(None),
        Content::Parts(blocks) => {
            let texts = blocks.into_iter().enumerate().map(|(number, block)| {
                let path = format!("{path}[{number}]");
                match kind(&block, &path)? {
                    "text" => said(block, &path),
                    _ => Err(WireError::member(format!("{path}.type"), "must be `text`")),
                }
            });
            folded(texts.collect::<Result<_, _>>()?)
        }
    };
    Ok(Some(of(Role::System, Some(content))))
}

/// A turn of the user: results of tools, each a message of its own, then what the user says.
pub(super) fn user(content: Content, path: &str, out: &mut Vec<Message>) -> Result<(), WireError> {
    let blocks = match content {
        Content::Text(text) => {
            out.push(Message::text(Role::User, text));
            return Ok(());
        }
        Content::Parts(blocks) => some(blocks, path)?,
    };
    let mut parts = Vec::new();
    for (number, block) in blocks.into_iter().enumerate() {
        let path = format!("{path}.content[{number}]");
        if kind(&block, &path)? != "tool_result" {
            parts.push(part(block, &path)?);
        } else if parts.is_empty() {
            out.push(result(block, &path)?);
        } else {
            return Err(WireError::member(path, "must come first: results of tools stand before all else"));
        }
    }
    if !parts.is_empty() {
        out.push(of(Role::User, Some(folded(parts))));
    }
    Ok(())
}

/// A turn of the model: its thoughts, its text, its calls of tools.
pub(super) fn assistant(content: Content, path: &str) -> Result<Message, WireError> {
    let blocks = match content {
        Content::Text(text) => return Ok(Message::text(Role::Assistant, text)),
        Content::Parts(blocks) => some(blocks, path)?,
    };
    let (mut parts, mut calls, mut signed) = (Vec::new(), Vec::new(), Vec::new());
    let mut thoughts = String::new();
    for (number, block) in blocks.into_iter().enumerate() {
        let path = format!("{path}.content[{number}]");
        match kind(&block, &path)? {
            "text" => parts.push(said(block, &path)?),
            "tool_use" => calls.push(call(block, &path)?),
            "redacted_thinking" => signed.push(Value::Object(block)),
            "thinking" => match block.get("signature").and_then(Value::as_str) {
                // Thoughts without a signature are those of a provider that signs none.
                None | Some("") => thoughts.push_str(text(&block, "thinking", &path)?),
                Some(_) => signed.push(Value::Object(block)),
            },
            _ => return Err(WireError::member(format!("{path}.type"), UNKNOWN)),
        }
    }
    let content = (!parts.is_empty()).then(|| folded(parts));
    Ok(Message {
        tool_calls: (!calls.is_empty()).then_some(calls),
        thinking_blocks: (!signed.is_empty()).then_some(signed),
        reasoning_content: (!thoughts.is_empty()).then_some(thoughts),
        ..of(Role::Assistant, content)
    })
}

fn of(role: Role, content: Option<Content>) -> Message {
    Message { content, ..Message::text(role, "") }
}

fn some(blocks: Vec<Block>, path: &str) -> Result<Vec<Block>, WireError> {
    if blocks.is_empty() {
        return Err(WireError::member(format!("{path}.content"), "must hold a block at least"));
    }
    Ok(blocks)
}

/// Parts as a content: a lone text without more is a text, which every provider takes.
fn folded(mut parts: Vec<Block>) -> Content {
    if let [only] = parts.as_mut_slice()
        && only.len() == 2
        && let Some(Value::String(text)) = only.get_mut("text")
    {
        return Content::Text(std::mem::take(text));
    }
    Content::Parts(parts)
}

fn kind<'a>(block: &'a Block, path: &str) -> Result<&'a str, WireError> {
    text(block, "type", path)
}

fn text<'a>(block: &'a Block, name: &str, path: &str) -> Result<&'a str, WireError> {
    let found = block.get(name).and_then(Value::as_str);
    found.ok_or_else(|| WireError::member(format!("{path}.{name}"), "must be a text"))
}

/// Refuses what a block holds beyond the members that are read.
fn only(block: &Block, read: &[&str], path: &str) -> Result<(), WireError> {
    let extra = block.iter().filter(|(name, _)| !read.contains(&name.as_str()) && *name != CACHE);
    nothing_more(&extra.map(|(name, value)| (name.clone(), value.clone())).collect(), path)
}

/// A part with the block's mark for the cache.
fn marked(part: Value, cache: Option<Value>) -> Block {
    let mut members = match part {
        Value::Object(members) => members,
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => Map::new(),
    };
    if let Some(cache) = cache.filter(|cache| !cache.is_null()) {
        members.insert(CACHE.to_owned(), cache);
    }
    members
}

fn said(mut block: Block, path: &str) -> Result<Block, WireError> {
    only(&block, &["type", "text"], path)?;
    let part = json!({"type": "text", "text": text(&block, "text", path)?});
    Ok(marked(part, block.remove(CACHE)))
}

fn part(mut block: Block, path: &str) -> Result<Block, WireError> {
    let part = match kind(&block, path)? {
        "text" => return said(block, path),
        "image" => {
            only(&block, &["type", "source"], path)?;
            json!({"type": "image_url", "image_url": {"url": address(&block, path)?}})
        }
        "document" => {
            only(&block, &["type", "source", "title", "citations"], path)?;
            let cites = block.get("citations").and_then(|how| how.get("enabled")).and_then(Value::as_bool);
            if cites == Some(true) {
                return Err(WireError::member(format!("{path}.citations"), UNKNOWN));
            }
            let mut file = Map::from_iter([("file_data".to_owned(), address(&block, path)?.into())]);
            if block.get("title").is_some_and(|title| !title.is_null()) {
                file.insert("filename".to_owned(), text(&block, "title", path)?.into());
            }
            json!({"type": "file", "file": file})
        }
        _ => return Err(WireError::member(format!("{path}.type"), UNKNOWN)),
    };
    Ok(marked(part, block.remove(CACHE)))
}

/// The address of a picture or a document: a data URL, or where it is read.
fn address(block: &Block, path: &str) -> Result<String, WireError> {
    let path = format!("{path}.source");
    let Some(source) = block.get("source").and_then(Value::as_object) else {
        return Err(WireError::member(path, "must be an object"));
    };
    match kind(source, &path)? {
        "base64" => {
            only(source, &["type", "media_type", "data"], &path)?;
            let (media, data) = (text(source, "media_type", &path)?, text(source, "data", &path)?);
            Ok(format!("data:{media};base64,{data}"))
        }
        "url" => {
            only(source, &["type", "url"], &path)?;
            text(source, "url", &path).map(str::to_owned)
        }
        _ => Err(WireError::member(format!("{path}.type"), "must be `base64` or `url`")),
    }
}

fn call(mut block: Block, path: &str) -> Result<ToolCall, WireError> {
    only(&block, &["type", "id", "name", "input"], path)?;
    let Some(input) = block.get("input").filter(|input| input.is_object()) else {
        return Err(WireError::member(format!("{path}.input"), "must be an object"));
    };
    let function =
        FunctionCall { name: text(&block, "name", path)?.to_owned(), arguments: input.to_string() };
    let id = text(&block, "id", path)?.to_owned();
    let extra = marked(Value::Null, block.remove(CACHE));
    Ok(ToolCall { id, kind: "function".to_owned(), function, extra })
}

fn result(mut block: Block, path: &str) -> Result<Message, WireError> {
    only(&block, &["type", "tool_use_id", "content", "is_error"], path)?;
    let place = format!("{path}.content");
    let mut content = match block.remove("content") {
        None | Some(Value::Null) => Content::Text(String::new()),
        Some(Value::String(text)) => Content::Text(text),
        Some(Value::Array(items)) => {
            let parts = items.into_iter().enumerate().map(|(number, item)| {
                let path = format!("{place}[{number}]");
                match item {
                    Value::Object(block) => part(block, &path),
                    Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
                        Err(WireError::member(path, "must be a block"))
                    }
                }
            });
            let parts: Vec<Block> = parts.collect::<Result<_, _>>()?;
            if parts.is_empty() { Content::Text(String::new()) } else { folded(parts) }
        }
        Some(_) => return Err(WireError::member(place, "must be a text or a list of blocks")),
    };
    if let Some(cache) = block.remove(CACHE).filter(|cache| !cache.is_null()) {
        content = last_marked(content, cache);
    }
    let mut message = Message::tool_result(text(&block, "tool_use_id", path)?, "");
    match block.get("is_error") {
        None | Some(Value::Null | Value::Bool(false)) => {}
        Some(Value::Bool(true)) => {
            message.extra.insert("is_error".to_owned(), true.into());
        }
        Some(_) => return Err(WireError::member(format!("{path}.is_error"), "must be true or false")),
    }
    message.content = Some(content);
    Ok(message)
}

/// The content with a mark for the cache at its last part.
fn last_marked(content: Content, cache: Value) -> Content {
    let mut parts = match content {
        Content::Text(text) => vec![marked(json!({"type": "text", "text": text}), None)],
        Content::Parts(parts) => parts,
    };
    if let Some(last) = parts.last_mut() {
        last.entry(CACHE).or_insert(cache);
    }
    Content::Parts(parts)
}
