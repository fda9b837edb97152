//! Languages: the words that no answer is found by, and what is said when there is none.

/// A language's small words and its sentences.
struct Language {
    /// Words without weight, in the folded form in which they are compared.
    small: &'static str,
    /// Said when no sentence answers.
    nothing: &'static str,
    /// Said when no passage came with the question.
    no_passage: &'static str,
}

/// English first, which is taken when nothing tells.
const LANGUAGES: [Language; 7] = [
    Language {
        small: "a an and are as at be by can could did do does for from had has have how i if in is it its me my of on or \
            our please should tell that the their them there these they this to was we were what when where which who \
            whom whose why will with would you your about into than then any some not no",
        nothing: "None of the passages answers this question.",
        no_passage: "No passages came with this question, so there is nothing to answer it from.",
    },
    Language {
        small: "aber als am an auch auf aus bei bin bis bitte das dass dem den der des die du ein eine einem einen einer \
            eines er es fur hat ich ihr im in ist kann man mein mit nach nicht noch oder sich sie sind uber um und uns von \
            vor wann war warum was welche welchem welchen welcher welches wem wen wenn wer werden wie wieso wird wo zu zum \
            zur",
        nothing: "Keiner der Abschnitte beantwortet diese Frage.",
        no_passage: "Mit dieser Frage kamen keine Abschnitte, aus denen sie zu beantworten wäre.",
    },
    Language {
        small: "a au aux avec ce ces cette comment d dans de des du elle en est et il ils je l la le les leur lui ma mais \
            mes mon ne nous on ou par pas pour pourquoi qu quand que quel quelle quelles quels qui quoi sa se ses son sont \
            sur un une vous y",
        nothing: "Aucun des passages ne répond à cette question.",
        no_passage: "Aucun passage n'accompagne cette question : il n'y a rien d'où y répondre.",
    },
    Language {
        small: "a al como con cual cuales cuando cuanto de del donde el ella en es esta este la las lo los me mi no o para \
            pero por porque que quien quienes se ser si sin sobre son su sus un una y",
        nothing: "Ninguno de los pasajes responde a esta pregunta.",
        no_passage: "Con esta pregunta no vino ningún pasaje del que se pueda responder.",
    },
    Language {
        small: "a al alla che chi ci come con cosa da dal dalla de dei del della delle di dove e gli i il in la le lo ma \
            mi nel nella non o per perche piu qual quale quali quando quanto se si sono su un una uno",
        nothing: "Nessuno dei passaggi risponde a questa domanda.",
        no_passage: "Con questa domanda non è arrivato alcun passaggio da cui rispondere.",
    },
    Language {
        small: "a ao aos as com como da das de do dos e em essa esse esta este eu mais mas na nao nas no nos o onde os ou \
            para pela pelo por porque qual quais quando quanto que quem se sem ser seu sua um uma",
        nothing: "Nenhuma das passagens responde a esta pergunta.",
        no_passage: "Com esta pergunta não veio nenhuma passagem a partir da qual responder.",
    },
    Language {
        small: "aan als bij de dat deze die dit door een en er het hij hoe ik in is je maar met mijn naar niet of om onze \
            ook op over te tot uit van voor waar waarom wanneer wat we welk welke wie wij worden wordt zij zijn",
        nothing: "Geen van de passages beantwoordt deze vraag.",
        no_passage: "Bij deze vraag kwamen geen passages waaruit zij te beantwoorden is.",
    },
];

/// Whether a word alone answers nothing, in any of the languages; in Japanese, what is written in Hiragana alone.
pub(crate) fn is_small(word: &str) -> bool {
    let hiragana = word.chars().all(|letter| matches!(letter, '\u{3040}'..='\u{309F}'));
    hiragana || LANGUAGES.iter().any(|language| language.has(word))
}

/// Sentence for a question that no sentence answers; the passages may be absent altogether.
pub(crate) fn nothing(question: &[String], any_passage: bool) -> &'static str {
    let language = of(question);
    if any_passage { language.nothing } else { language.no_passage }
}

/// The language whose small words a text has most of; the first of those with the same number.
fn of(words: &[String]) -> &'static Language {
    let [first, others @ ..] = &LANGUAGES;
    let count = |language: &Language| words.iter().filter(|word| language.has(word)).count();
    let (mut best, mut most) = (first, count(first));
    for language in others {
        let counted = count(language);
        if counted > most {
            (best, most) = (language, counted);
        }
    }
    best
}

impl Language {
    fn has(&self, word: &str) -> bool {
        self.small.split_ascii_whitespace().any(|small| small == word)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::words::words;

    #[test]
    fn nothing_is_said_in_the_language_of_the_question() {
        for (question, begin) in [
            ("What is the capital of France?", "None"),
            ("Was ist die Hauptstadt von Frankreich?", "Keiner"),
            ("Quelle est la capitale de la France ?", "Aucun"),
            ("¿Cuál es la capital de Francia y por qué?", "Ninguno"),
            ("Qual è la capitale della Francia, e perché?", "Nessuno"),
            ("Qual é a capital da França e por que não?", "Nenhuma"),
            ("Wat is de hoofdstad van Frankrijk?", "Geen"),
            ("フランスの首都は？", "None"),
        ] {
            let said = nothing(&words(question), true);
            assert!(said.starts_with(begin), "{question}: {said}");
        }
    }

    #[test]
    fn small_words_are_written_as_they_are_compared() {
        for language in &LANGUAGES {
            for word in language.small.split_ascii_whitespace() {
                assert_eq!(words(word), [word]);
            }
        }
    }
}
