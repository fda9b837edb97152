//! Work that asks a model one question.

use heddle_guardrails::Stage;
use serde_json::{Map, Value, json};

use crate::asking::{Answered, Fit};
use crate::evaluate::as_text;
use crate::fault::WorkFault;
use crate::protection::{Passage, Through};
use crate::work::{Ending, Work};
use crate::{answers, prompts};

/// Categories that are judged where the settings name none.
const CATEGORIES: [&str; 5] = ["sexual", "violence", "hate", "harassment", "selfHarm"];
/// Most documents of one order, and most texts of one request for vectors.
const MOST_ITEMS: usize = 2_000;

/// Gives back the answer of a question, or ends the work.
macro_rules! answered {
    ($answered:expr) => {
        match $answered {
            Answered::Answer(answer) => *answer,
            Answered::Ended(ending) => return Ok(*ending),
        }
    };
}

/// Gives back what fits, or ends the work.
macro_rules! fitting {
    ($fitting:expr) => {
        match $fitting {
            Fit::Value(value) => value,
            Fit::Ended(ending) => return Ok(*ending),
        }
    };
}

impl Work<'_> {
    /// `llm.chat`: `{text, json?, finishReason, model, usage}`.
    pub(crate) async fn chat(&self) -> Result<Ending, WorkFault> {
        let settings = self.evaluator();
        let mut messages = Vec::new();
        messages.extend(settings.text("system")?.map(|system| prompts::message("system", &system)));
        match settings.value("messages")? {
            Some(Value::Array(own)) => messages.extend(own),
            Some(_) => return Err(WorkFault::setting("messages", "it gives no list of messages")),
            None => messages.push(prompts::message("user", &as_text(&settings.needed("prompt")?))),
        }
        let mut request = self.request(messages)?;
        if let Some(own) = settings.number("topP", 0.0, 1.0)? {
            request.insert("top_p".to_owned(), json!(own));
        }
        for member in ["seed", "stop"] {
            if let Some(own) = settings.value(member)? {
                request.insert(member.to_owned(), own);
            }
        }
        let format = self.format()?;
        format.tell(&mut request);
        let answer = answered!(self.ask(request).await?);
        let mut output = json!({
            "text": answers::text(&answer.body).unwrap_or_default(),
            "finishReason": answers::finish(&answer.body),
            "model": answer.body.get("model").cloned().unwrap_or_default(),
            "usage": answers::usage(&answer.body),
        });
        if let Some(schema) = format.schema() {
            let value = fitting!(self.fitting(&answer, &schema)?);
            if let Some(members) = output.as_object_mut() {
                members.insert("json".to_owned(), value);
            }
        }
        self.complete(output, answer).await
    }

    /// `llm.extract`: `{data, usage}`; an answer that does not fit is asked for again with what was wrong.
    pub(crate) async fn extract(&self) -> Result<Ending, WorkFault> {
        let settings = self.evaluator();
        let schema = settings.needed("schema")?;
        if !schema.is_object() {
            return Err(WorkFault::setting("schema", "it gives no JSON Schema"));
        }
        // A wrong number is told before a model is asked.
        self.repairs()?;
        let input = as_text(&settings.needed("input")?);
        let task = format!("Extract the values that this JSON Schema describes: {schema}.");
        let told = prompts::instructions(&task, settings.text("instructions")?.as_deref());
        let mut request = self.request(prompts::messages(&told, &input))?;
        request.insert("response_format".to_owned(), prompts::format("extracted", &schema));
        let answer = answered!(self.ask(request).await?);
        let data = fitting!(self.fitting(&answer, &schema)?);
        let output = json!({ "data": data, "usage": answers::usage(&answer.body) });
        self.complete(output, answer).await
    }

    /// `llm.classify`: `{class, confidence, classes, usage}`, the surest first.
    pub(crate) async fn classify(&self) -> Result<Ending, WorkFault> {
        let settings = self.evaluator();
        let input = as_text(&settings.needed("input")?);
        let classes = settings.needed("classes")?;
        let classes = classes.as_array().ok_or_else(|| WorkFault::setting("classes", "it gives no list"))?;
        let name = |own: &Value| own.as_str().or_else(|| own.get("name")?.as_str()).map(str::to_owned);
        let names: Option<Vec<String>> = classes.iter().map(name).collect();
        let names = names.filter(|names| names.len() > 1);
        let names = names.ok_or_else(|| WorkFault::setting("classes", "it gives no names of two or more"))?;
        let is_multi = settings.flag("multi")?.unwrap_or(false);
        let how = if is_multi { "every class that fits, or none" } else { "the one class that fits best" };
        let listed = Value::Array(classes.clone());
        let task = format!("Name {how}, with how sure you are from 0 to 1, of these classes: {listed}.");
        let told = prompts::instructions(&task, settings.text("instructions")?.as_deref());
        let schema = prompts::classes(&names);
        let mut request = self.request(prompts::messages(&told, &input))?;
        request.insert("response_format".to_owned(), prompts::format("classes", &schema));
        let answer = answered!(self.ask(request).await?);
        let value = fitting!(self.fitting(&answer, &schema)?);
        let mut found: Vec<Value> =
            value.get("classes").and_then(Value::as_array).cloned().unwrap_or_default();
        found.sort_by(|one, other| number(other, "confidence").total_cmp(&number(one, "confidence")));
        if found.is_empty() && !is_multi {
            return self.unfit("The answer names no class.", answer.hits);
        }
        if !is_multi {
            found.truncate(1);
        }
        let member =
            |member: &str| found.first().and_then(|own| own.get(member)).cloned().unwrap_or_default();
        let output = json!({
            "class": member("name"),
            "confidence": member("confidence"),
            "classes": found,
            "usage": answers::usage(&answer.body),
        });
        self.complete(output, answer).await
    }

    /// `llm.rerank`: `{results: [{index, score, document}], usage}`, the best first.
    pub(crate) async fn rerank(&self) -> Result<Ending, WorkFault> {
        let settings = self.evaluator();
        let query = as_text(&settings.needed("query")?);
        let documents = settings.needed("documents")?;
        let documents = documents.as_array().filter(|own| own.len() <= MOST_ITEMS);
        let documents = documents
            .ok_or_else(|| WorkFault::setting("documents", "it gives no list, or a too long one"))?;
        if documents.is_empty() {
            return Ok(Ending::completed(
                json!({ "results": [], "usage": answers::usage(&Value::Null) }),
                Vec::new(),
            ));
        }
        let listed = documents.iter().enumerate().map(|(at, own)| format!("[{at}] {}", document(own)));
        let given = format!("Query: {query}\n\n{}", listed.collect::<Vec<_>>().join("\n\n"));
        let task = "Score how well each of the numbered documents answers the query, from 0 to 1.";
        let schema = prompts::scores();
        let mut request = self.request(prompts::messages(&prompts::instructions(task, None), &given))?;
        request.insert("response_format".to_owned(), prompts::format("scores", &schema));
        let answer = answered!(self.ask(request).await?);
        let value = fitting!(self.fitting(&answer, &schema)?);
        let least = settings.number("minScore", 0.0, 1.0)?.unwrap_or(0.0);
        let most = settings.whole("topK", 1, 1_000)?.and_then(|own| usize::try_from(own).ok());
        // What is not scored does not fit at all; of two scores of one document the first counts.
        let mut scores = vec![None; documents.len()];
        for own in value.get("scores").and_then(Value::as_array).into_iter().flatten() {
            let at = own.get("index").and_then(Value::as_u64).and_then(|at| usize::try_from(at).ok());
            if let Some(place) = at.and_then(|at| scores.get_mut(at)) {
                place.get_or_insert(number(own, "score"));
            }
        }
        let scored = documents.iter().zip(scores).enumerate();
        let result = |(index, (document, score)): (usize, (&Value, Option<f64>))| json!({ "index": index, "score": score.unwrap_or(0.0), "document": document });
        let mut results: Vec<Value> =
            scored.map(result).filter(|own| number(own, "score") >= least).collect();
        results.sort_by(|one, other| number(other, "score").total_cmp(&number(one, "score")));
        results.truncate(most.unwrap_or(usize::MAX));
        let output = json!({ "results": results, "usage": answers::usage(&answer.body) });
        self.complete(output, answer).await
    }

    /// `llm.moderate`: `{flagged, categories, scores, usage}`.
    pub(crate) async fn moderate(&self) -> Result<Ending, WorkFault> {
        let settings = self.evaluator();
        let input = as_text(&settings.needed("input")?);
        let names: Vec<String> = match settings.value("categories")?.filter(|own| !own.is_null()) {
            Some(own) => {
                let name = |name: &Value| name.as_str().map(str::to_owned);
                let names: Option<Vec<String>> =
                    own.as_array().and_then(|own| own.iter().map(name).collect());
                let told = || WorkFault::setting("categories", "it gives no list of names");
                names.filter(|names| !names.is_empty()).ok_or_else(told)?
            }
            None => CATEGORIES.iter().map(|name| (*name).to_owned()).collect(),
        };
        let threshold = settings.number("threshold", 0.0, 1.0)?.unwrap_or(0.5);
        let schema = prompts::judgement(&names);
        let task = format!("Score how much the text has of each of {}, from 0 to 1.", names.join(", "));
        let mut request = self.request(prompts::messages(&prompts::instructions(&task, None), &input))?;
        request.insert("response_format".to_owned(), prompts::format("judgement", &schema));
        let answer = answered!(self.ask(request).await?);
        let scores = fitting!(self.fitting(&answer, &schema)?);
        let flagged: Vec<&String> = names.iter().filter(|name| number(&scores, name) >= threshold).collect();
        let output = json!({
            "flagged": !flagged.is_empty(),
            "categories": flagged,
            "scores": scores,
            "usage": answers::usage(&answer.body),
        });
        self.complete(output, answer).await
    }

    /// `embedding.create`: `{vectors, dimensions, model, usage}`, in the order of the texts.
    pub(crate) async fn embed(&self) -> Result<Ending, WorkFault> {
        let settings = self.evaluator();
        let input = settings.needed("input")?;
        let texts: Vec<Value> = match input {
            Value::Array(own) if own.len() <= MOST_ITEMS => {
                own.iter().map(|one| as_text(one).into()).collect()
            }
            Value::Array(_) => return Err(WorkFault::setting("input", "it gives too many texts")),
            other => vec![as_text(&other).into()],
        };
        let count = texts.len();
        let (texts, hits) = match self.pass(Stage::Input, Value::Array(texts), Vec::new()).await? {
            Passage::Ended(ending) => return Ok(*ending),
            Passage::Through(Through { value, hits, .. }) => (value, hits),
        };
        let mut request = Map::new();
        request.insert("model".to_owned(), settings.needed("model")?);
        request.insert("input".to_owned(), texts);
        if let Some(own) = settings.whole("dimensions", 1, 65_536)? {
            request.insert("dimensions".to_owned(), own.into());
        }
        let answer = match self.models.embed(&self.caller, request, self.time()?).await {
            Ok(answer) => answer,
            Err(fault) => return Ok(Ending::of_call(fault, hits)),
        };
        let data = answer.get("data").and_then(Value::as_array);
        let vectors: Vec<Value> =
            data.into_iter().flatten().filter_map(|own| own.get("embedding").cloned()).collect();
        if vectors.len() != count {
            return Ok(Ending::broken(
                "The answer has another number of vectors than texts were given.",
                hits,
            ));
        }
        let dimensions = vectors.first().and_then(Value::as_array).map_or(0, Vec::len);
        // Vectors are no texts: nothing in them is looked for.
        Ok(Ending::completed(
            json!({
                "vectors": vectors,
                "dimensions": dimensions,
                "model": answer.get("model").cloned().unwrap_or_default(),
                "usage": answers::usage(&answer),
            }),
            hits,
        ))
    }
}

fn number(value: &Value, member: &str) -> f64 {
    value.get(member).and_then(Value::as_f64).unwrap_or(0.0)
}

/// The text of a document: its own, or that of its member `text`.
fn document(value: &Value) -> String {
    value.get("text").map_or_else(|| as_text(value), as_text)
}
