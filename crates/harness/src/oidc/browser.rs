//! A browser, as far as a sign-in needs one: it goes where it is led, keeps cookies, and fills in two forms.

use std::collections::BTreeMap;

use anyhow::{Context, Result, bail};
use reqwest::header::{COOKIE, HeaderMap, LOCATION, SET_COOKIE};
use reqwest::redirect::Policy;
use reqwest::{Client, Url};

/// Most steps of a sign-in.
const MOST_STEPS: usize = 20;

/// A page, or the place to which one is led.
pub(super) struct Page {
    pub(super) status: u16,
    pub(super) led_to: Option<Url>,
    pub(super) text: String,
    address: Url,
}

/// A browser with its cookies, by host and port.
pub(super) struct Browser {
    http: Client,
    cookies: BTreeMap<String, BTreeMap<String, String>>,
}

fn place(url: &Url) -> String {
    format!("{}:{}", url.host_str().unwrap_or_default(), url.port().unwrap_or_default())
}

impl Browser {
    #[expect(clippy::disallowed_methods, reason = "runners are clients of the server")]
    pub(super) fn new() -> Result<Self> {
        let builder = Client::builder().no_proxy().redirect(Policy::none());
        Ok(Self { http: builder.build().context("no HTTP client")?, cookies: BTreeMap::new() })
    }

    fn keep(&mut self, url: &Url, headers: &HeaderMap) {
        let own = self.cookies.entry(place(url)).or_default();
        for line in headers.get_all(SET_COOKIE).iter().filter_map(|value| value.to_str().ok()) {
            if let Some((name, value)) = line.split(';').next().and_then(|pair| pair.split_once('=')) {
                own.insert(name.to_owned(), value.to_owned());
            }
        }
    }

    async fn ask(&mut self, url: &Url, form: Option<&str>) -> Result<Page> {
        let request = match form {
            None => self.http.get(url.clone()),
            Some(form) => self
                .http
                .post(url.clone())
                .header("content-type", "application/x-www-form-urlencoded")
                .body(form.to_owned()),
        };
        let own = self.cookies.get(&place(url)).into_iter().flatten();
        let cookies: Vec<String> = own.map(|(name, value)| format!("{name}={value}")).collect();
        let answer = request.header(COOKIE, cookies.join("; ")).send().await.context("no answer")?;
        self.keep(url, answer.headers());
        let status = answer.status().as_u16();
        let led_to = answer.headers().get(LOCATION).and_then(|value| value.to_str().ok());
        let led_to = led_to.map(|text| url.join(text)).transpose().context("the way on is no address")?;
        let text = answer.text().await.context("the page is not whole")?;
        Ok(Page { status, led_to, text, address: url.clone() })
    }

    /// Opens an address.
    pub(super) async fn open(&mut self, url: &Url) -> Result<Page> {
        self.ask(url, None).await
    }

    /// Goes to a provider and signs in there; the address to which it leads back.
    pub(super) async fn sign_in(&mut self, way: &Url, login: &str) -> Result<Url> {
        let mut page = self.open(way).await?;
        for _ in 0..MOST_STEPS {
            if let Some(next) = page.led_to.take() {
                if place(&next) != place(way) {
                    return Ok(next);
                }
                page = self.open(&next).await?;
                continue;
            }
            let action = page.text.split("action=\"").nth(1).and_then(|rest| rest.split('"').next());
            let Some(action) = action else { bail!("status {} and no form: {}", page.status, page.text) };
            let form = match page.text.contains("name=\"login\"") {
                true => format!("prompt=login&login={login}&password=any"),
                false => "prompt=consent".to_owned(),
            };
            let target = page.address.join(&action.replace("&amp;", "&")).context("the form's address")?;
            page = self.ask(&target, Some(&form)).await?;
        }
        bail!("the provider leads on and on")
    }
}
