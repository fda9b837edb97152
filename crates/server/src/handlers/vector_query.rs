//! Queries of vector databases: wire types to domain types and back, around the use case.

use std::time::Duration;

use heddle_api::operations::ops;
use heddle_api::wire;
use heddle_api::wire::vector_query::{
    Citation, FoundPassage, FusionMethod, Neighbour, PassageLocator, PassageScores, QueryAnswer, QueryTime,
};
use heddle_vectors::records::Locator;
use heddle_vectors::{Answer, Cited, Fusion, Query, Rerank};
use serde_json::Value;

use super::vector_databases::{mode_of, mode_shown};
use crate::call::Call;
use crate::failure::Failure;
use crate::reply::{HandlerResult, Response};

/// Weight of meaning in a fusion by scores, where none is given.
const ALPHA: f64 = 0.5;
/// Constant of a fusion by places, where none is given.
const K: u32 = 60;

/// POST /api/vector-databases/{name}/query
pub(crate) async fn query(call: Call<ops::QueryVectorDatabase>) -> HandlerResult {
    let body = &call.body;
    let query = Query {
        text: body.query.clone(),
        limit: body.limit,
        mode: body.mode.map(mode_of),
        filter: body.filter.clone().map(Value::Object),
        min_score: body.min_score,
        fusion: body.fusion.as_ref().map(fusion_of).transpose()?,
        mmr_lambda: body.diversity.as_ref().map(|diversity| diversity.mmr_lambda),
        rerank: body
            .rerank
            .as_ref()
            .map(|rerank| Rerank { deployment: rerank.deployment.clone(), candidates: rerank.candidates }),
        neighbours: body.include_neighbours.unwrap_or(0),
        allow_degraded: body.allow_degraded.unwrap_or(false),
    };
    let answer = call.app.vectors.queries.query(&call.authorized, &call.context, &query).await?;
    let shape = Shape {
        text: body.include_text.unwrap_or(true),
        scores: body.include_scores.unwrap_or(false),
        neighbours: body.include_neighbours.is_some(),
    };
    Response::data(200, answer_shown(answer, shape))
}

fn fusion_of(fusion: &wire::vector_query::Fusion) -> Result<Fusion, Failure> {
    let refused = |member: &str, method: &str| {
        let message = format!("It is of the method `{method}`.");
        Err(Failure::at(&format!("fusion.{member}"), "notAllowed", message))
    };
    match (fusion.method, fusion.alpha, fusion.k) {
        (FusionMethod::MinMax, alpha, None) => Ok(Fusion::MinMax { alpha: alpha.unwrap_or(ALPHA) as f32 }),
        (FusionMethod::Rrf, None, k) => Ok(Fusion::Rrf { k: k.unwrap_or(K) }),
        (FusionMethod::MinMax, _, Some(_)) => refused("k", "rrf"),
        (FusionMethod::Rrf, Some(_), _) => refused("alpha", "minMax"),
    }
}

/// Members of an answer that a caller asks for.
#[derive(Clone, Copy)]
struct Shape {
    text: bool,
    scores: bool,
    neighbours: bool,
}

fn answer_shown(answer: Answer, shape: Shape) -> QueryAnswer {
    QueryAnswer {
        passages: answer.passages.iter().map(|one| passage(one, shape)).collect(),
        mode: mode_shown(answer.mode),
        embedding_model_id: answer.model,
        index_sequence: u64::try_from(answer.sequence).unwrap_or_default(),
        took: QueryTime {
            embed_ms: millis(answer.embed),
            search_ms: millis(answer.search),
            total_ms: millis(answer.total),
        },
        partial: false,
        degraded: answer.degraded,
    }
}

/// Milliseconds, to the microsecond.
fn millis(time: Duration) -> f64 {
    (time.as_secs_f64() * 1e6).round() / 1e3
}

fn passage(one: &Cited, shape: Shape) -> FoundPassage {
    let (found, passage) = (&one.found, &one.found.passage);
    let (place, span) = (&passage.locator, one.span());
    let scores = PassageScores {
        semantic: one.scores.semantic.map(f64::from),
        keyword: one.scores.keyword.map(f64::from),
        rerank: one.scores.rerank.map(f64::from),
        rank: one.rank,
    };
    let neighbour = |(offset, passage): &(i32, heddle_vectors::records::Passage)| Neighbour {
        id: passage.id.to_string(),
        offset: *offset,
        text: passage.text.clone(),
        locator: locator(&passage.locator),
    };
    FoundPassage {
        id: passage.id.to_string(),
        score: one.score.into(),
        scores: shape.scores.then_some(scores),
        text: shape.text.then(|| one.text().to_owned()),
        file_id: passage.file.to_string(),
        file_name: found.file_name.clone(),
        title: Some(found.title.clone()),
        locator: locator(place),
        citation: Citation {
            label: one.label.clone(),
            file_id: passage.file.to_string(),
            page: place.page,
            heading_path: place.heading_path.clone(),
            start_char: span.start_char,
            end_char: span.end_char,
        },
        metadata: found.metadata.clone(),
        neighbours: shape.neighbours.then(|| one.neighbours.iter().map(neighbour).collect()),
    }
}

fn locator(place: &Locator) -> PassageLocator {
    PassageLocator {
        page: place.page,
        sheet: place.sheet.clone(),
        slide: place.slide,
        heading_path: place.heading_path.clone(),
        start_char: place.start_char,
        end_char: place.end_char,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_member_of_the_other_method_is_refused_by_its_name() {
        let of = |method, alpha, k| fusion_of(&wire::vector_query::Fusion { method, alpha, k });
        assert_eq!(of(FusionMethod::MinMax, Some(0.25), None).unwrap(), Fusion::MinMax { alpha: 0.25 });
        assert_eq!(of(FusionMethod::Rrf, None, None).unwrap(), Fusion::Rrf { k: 60 });
        for (method, field) in [(FusionMethod::MinMax, "fusion.k"), (FusionMethod::Rrf, "fusion.alpha")] {
            let refused = of(method, Some(0.5), Some(60)).unwrap_err();
            let details = &refused.error.details;
            assert_eq!(details.first().and_then(|one| one.field.as_deref()), Some(field));
        }
    }
}
