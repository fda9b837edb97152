// A provider of sign-ins as people run them: oidc-provider with its own login form. Its groups are changed at /control.
import http from "node:http";
import Provider from "oidc-provider";

const groups = new Map();
const server = http.createServer();
await new Promise((done) => server.listen(0, "127.0.0.1", done));
const issuer = `http://127.0.0.1:${server.address().port}`;

const provider = new Provider(issuer, {
  clients: [
    {
      client_id: "heddle",
      client_secret: process.env.CLIENT_SECRET,
      redirect_uris: ["http://127.0.0.1/callback"],
      grant_types: ["authorization_code"],
      response_types: ["code"],
    },
  ],
  claims: { openid: ["sub"], email: ["email", "email_verified"], profile: ["name"], groups: ["groups"] },
  cookies: { keys: ["of a test alone"] },
  features: { devInteractions: { enabled: true } },
  pkce: { required: () => true },
  findAccount: async (_context, id) => ({
    accountId: id,
    claims: async () => ({
      sub: id,
      email: `${id}@example.com`,
      email_verified: id !== "mallory",
      name: id,
      groups: groups.get(id) ?? [],
    }),
  }),
});
// The port of the service is not known before it runs.
provider.Client.prototype.redirectUriAllowed = (uri) => uri.startsWith("http://127.0.0.1:");
const handle = provider.callback();
server.on("request", (request, response) => {
  const url = new URL(request.url, issuer);
  if (url.pathname === "/control") {
    groups.set(url.searchParams.get("id"), url.searchParams.getAll("group"));
    response.end("{}");
    return;
  }
  handle(request, response);
});
console.log(JSON.stringify({ issuer }));
