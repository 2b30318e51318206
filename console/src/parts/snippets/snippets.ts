/** The first call with every client that people use, as it works when pasted. */

export interface SnippetFacts {
  /** Of the gateway, without a slash at the end. */
  readonly baseUrl: string
  readonly secret: string
  readonly model: string
}

export const CLIENTS = [
  { id: 'curl', label: 'curl', write: curl },
  { id: 'openai', label: 'OpenAI', write: openAi },
  { id: 'anthropic', label: 'Anthropic', write: anthropic },
  { id: 'google', label: 'Google', write: google },
  { id: 'claude-code', label: 'Claude Code', write: claudeCode },
  { id: 'codex', label: 'Codex', write: codex },
] as const

export type ClientId = (typeof CLIENTS)[number]['id']

function curl({ baseUrl, secret, model }: SnippetFacts): string {
  return `curl ${baseUrl}/v1/chat/completions \\
  -H "Authorization: Bearer ${secret}" \\
  -H "Content-Type: application/json" \\
  -d '{
    "model": "${model}",
    "messages": [
      {"role": "user", "content": "Hello"}
    ]
  }'`
}

function openAi({ baseUrl, secret, model }: SnippetFacts): string {
  return `from openai import OpenAI

client = OpenAI(
    base_url="${baseUrl}/v1",
    api_key="${secret}",
)
answer = client.responses.create(
    model="${model}", input="Hello")
print(answer.output_text)`
}

function anthropic({ baseUrl, secret, model }: SnippetFacts): string {
  return `from anthropic import Anthropic

client = Anthropic(
    base_url="${baseUrl}",
    auth_token="${secret}",
)
answer = client.messages.create(
    model="${model}", max_tokens=1024,
    messages=[{"role": "user", "content": "Hello"}])
print(answer.content[0].text)`
}

function google({ baseUrl, secret, model }: SnippetFacts): string {
  return `from google import genai

client = genai.Client(
    api_key="${secret}",
    http_options={"base_url": "${baseUrl}"},
)
answer = client.models.generate_content(
    model="${model}", contents="Hello")
print(answer.text)`
}

function claudeCode({ baseUrl, secret, model }: SnippetFacts): string {
  return `# in the shell that starts Claude Code
export ANTHROPIC_BASE_URL="${baseUrl}"
export ANTHROPIC_AUTH_TOKEN="${secret}"
export ANTHROPIC_MODEL="${model}"
claude`
}

function codex({ baseUrl, secret, model }: SnippetFacts): string {
  return `# ~/.codex/config.toml, with SLUICE_KEY="${secret}" in the shell
model = "${model}"
model_provider = "sluice"

[model_providers.sluice]
name = "Sluice"
base_url = "${baseUrl}/v1"
env_key = "SLUICE_KEY"
wire_api = "responses"`
}
