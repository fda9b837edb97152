// Pages of the API: Swagger UI over the documents, with a form for signing in above them. The token is kept in the
// memory of this page alone, for all documents; nothing is stored in the browser.
"use strict";

window.onload = () => {
  const documents = [
    { name: "Workflows, runs, events, health", url: "/openapi.json" },
    { name: "Accounts, rights, work list, licence, audit", url: "/openapi-platform.json" },
    { name: "For workers and clients of other products", url: "/openapi-compatibility.json" },
  ];
  // Providers by which people sign in: names, and names for people.
  const providers = [/* providers */];
  let token = null;
  // Whoever comes back from a provider has a session in a cookie, which this page can't read and may send.
  const byProvider = new URLSearchParams(window.location.search).has("signed-in");

  // Members that say nothing to a reader of this page, and the cookie, which a page can't send by hand.
  const hidden = new Set(["x-lifecycle", "x-history"]);
  const shown = (value) => {
    if (Array.isArray(value)) {
      return value.map(shown);
    }
    if (value === null || typeof value !== "object") {
      return value;
    }
    const members = Object.entries(value).filter(([name]) => !hidden.has(name));
    // An example that is no JSON is a `serializedValue` since OpenAPI 3.2; Swagger UI knows `value` alone.
    const known = (name) => (name === "serializedValue" ? "value" : name);
    return Object.fromEntries(members.map(([name, member]) => [known(name), shown(member)]));
  };
  const forReaders = (given) => {
    const whole = shown(given);
    delete whole.components?.securitySchemes?.cookie;
    for (const path of Object.values(whole.paths ?? {})) {
      for (const operation of Object.values(path)) {
        if (Array.isArray(operation?.security)) {
          operation.security = operation.security.filter((one) => !("cookie" in one));
        }
      }
    }
    return whole;
  };

  const plugin = () => ({
    statePlugins: {
      spec: { wrapActions: { updateJsonSpec: (update) => (given) => update(forReaders(given)) } },
      auth: {
        wrapActions: {
          // Swagger UI forgets the token when another document is chosen; here all take the same one.
          restoreAuthorization: (restore) => (kept) => {
            if (Object.keys(kept.authorized ?? {}).length > 0) {
              restore(kept);
            }
          },
          logout: (out) => (names) => {
            token = null;
            out(names);
          },
        },
      },
    },
  });

  // Before a document is there, there is nothing to authorize: the token waits for it.
  const authorize = () => {
    if (token !== null && window.ui.preauthorizeApiKey("bearer", token) !== null) {
      token = null;
    }
  };

  window.ui = SwaggerUIBundle({
    urls: documents,
    "urls.primaryName": documents[0].name,
    dom_id: "#swagger-ui",
    deepLinking: true,
    filter: true,
    docExpansion: "none",
    requestInterceptor: (request) => {
      request.credentials = byProvider && token === null ? "same-origin" : "omit";
      return request;
    },
    defaultModelsExpandDepth: -1,
    defaultModelExpandDepth: 2,
    displayRequestDuration: true,
    validatorUrl: null,
    presets: [SwaggerUIBundle.presets.apis, SwaggerUIStandalonePreset],
    plugins: [SwaggerUIBundle.plugins.DownloadUrl, plugin],
    layout: "StandaloneLayout",
    onComplete: authorize,
  });

  const element = (name, members, ...children) => {
    const made = Object.assign(document.createElement(name), members);
    made.append(...children);
    return made;
  };
  const email = element("input", { type: "email", required: true, autocomplete: "username" });
  const password = element("input", { type: "password", required: true, autocomplete: "current-password" });
  const code = element("input", { type: "text", autocomplete: "one-time-code", maxLength: 64 });
  const codeLabel = element("label", { hidden: true }, "Code ", code);
  const button = element("button", { type: "submit", textContent: "Sign in" });
  const told = element("output", {
    textContent: "Sign in first: nearly every operation needs it. All documents then use the session; an API token "
      + "goes into Authorize instead.",
  });
  const form = element(
    "form",
    { id: "heddle-sign-in" },
    element("label", {}, "E-mail ", email),
    element("label", {}, "Password ", password),
    codeLabel,
    button,
    told,
  );
  // Ticket of the first call for an account with a second factor: it is good for five minutes and a right code. Without one
  // address and password are asked for.
  let ticket = null;
  let ticketEnds = 0;
  const ask = (given) => {
    ticket = given;
    ticketEnds = Date.now() + 5 * 60 * 1000;
    codeLabel.hidden = ticket === null;
    code.required = ticket !== null;
    email.readOnly = ticket !== null;
    password.disabled = ticket !== null;
    if (ticket !== null) {
      code.focus();
    }
  };
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    button.disabled = true;
    try {
      const answer = await fetch("/api/auth/sign-in", {
        method: "POST",
        // Nothing stays in the browser: the token is kept by the page alone.
        credentials: "omit",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(
          ticket === null ? { email: email.value, password: password.value } : { ticket, code: code.value },
        ),
      });
      const body = await answer.json();
      if (answer.ok && body.data.ticket !== undefined) {
        ask(body.data.ticket);
        told.textContent = "Now the code of the authenticator, or a recovery code.";
      } else if (answer.ok) {
        ask(null);
        token = body.data.token;
        authorize();
        told.textContent = `Signed in as ${email.value}; all documents use it until this page is left.`;
      } else {
        if (ticket !== null && Date.now() > ticketEnds) {
          ask(null);
        }
        const reasons = body.error.details.map((detail) => detail.message).filter(Boolean);
        told.textContent = reasons.join(" ") || body.error.message;
      }
    } catch (error) {
      told.textContent = `The service does not answer: ${error.message}`;
    } finally {
      password.value = "";
      code.value = "";
      button.disabled = false;
    }
  });
  const way = (name) => `/api/auth/oidc/${name}/start?returnTo=${encodeURIComponent("/docs?signed-in=1")}`;
  for (const provider of providers) {
    form.append(element("a", { href: way(provider.name), textContent: `Sign in by ${provider.displayName}` }));
  }
  if (byProvider) {
    fetch("/api/auth/session", { credentials: "same-origin" })
      .then(async (answer) => {
        const body = await answer.json();
        told.textContent = answer.ok
          ? `Signed in as ${body.data.user.email}, by a cookie of this service.`
          : body.error.message;
      })
      .catch((error) => {
        told.textContent = `The service does not answer: ${error.message}`;
      });
  }
  document.body.prepend(form);
};
