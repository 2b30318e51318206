/**
 * The first call with every client that people use, as it works when pasted. A model that does not talk is called with what it
 * takes, by those clients that can.
 */

export interface SnippetFacts {
  /** Of the gateway, without a slash at the end. */
  readonly baseUrl: string
  readonly secret: string
  readonly model: string
}

const CLIENTS = [
  { id: 'curl', label: 'curl', write: curl },
  { id: 'openai', label: 'OpenAI', write: openAi },
  { id: 'anthropic', label: 'Anthropic', write: anthropic },
  { id: 'google', label: 'Google', write: google },
  { id: 'claude-code', label: 'Claude Code', write: claudeCode },
  { id: 'codex', label: 'Codex', write: codex },
] as const

export type ClientId = (typeof CLIENTS)[number]['id']

export interface Client {
  readonly id: ClientId
  readonly label: string
  readonly write: (facts: SnippetFacts) => string
}

/** What is sent to an endpoint that makes no conversation, and what OpenAI's library calls it. */
interface OtherCall {
  readonly fields: Readonly<Record<string, string | readonly string[]>>
  /** Absent: that library does not know the endpoint. */
  readonly method?: string
  /** A file of the caller's, under the name `file`, so that the call is a form. */
  readonly file?: string
}

const OTHER_CALLS: Readonly<Record<string, OtherCall>> = {
  '/v1/images/generations': { fields: { prompt: 'A gate over a wave' }, method: 'images.generate' },
  '/v1/videos': { fields: { prompt: 'A gate over a wave', seconds: '5' }, method: 'videos.create' },
  '/v1/embeddings': { fields: { input: 'Hello' }, method: 'embeddings.create' },
  '/v1/audio/speech': { fields: { input: 'Hello', voice: 'alloy' }, method: 'audio.speech.create' },
  '/v1/audio/transcriptions': { fields: {}, method: 'audio.transcriptions.create', file: 'speech.mp3' },
  '/v1/moderations': { fields: { input: 'Hello' }, method: 'moderations.create' },
  '/v2/rerank': { fields: { query: 'Hello', documents: ['Good morning', 'Good night'] } },
}

const TALK = '/v1/chat/completions'

/** What a snippet needs to know of a model: the paths it is called at. */
export interface CalledModel {
  readonly model_id: string
  readonly endpoints: readonly string[]
}

/** The first of them that talks; else the first of them. */
export function firstToCall<T extends CalledModel>(models: readonly T[]): T | undefined {
  return models.find(({ endpoints }) => endpoints.includes(TALK)) ?? models[0]
}

/** The clients that can call a model with such endpoints; undefined: it is not known yet, and taken for one that talks. */
export function clientsFor(endpoints: readonly string[] | undefined): readonly Client[] {
  if (endpoints === undefined || endpoints.includes(TALK)) return CLIENTS
  const path = endpoints.find((each) => OTHER_CALLS[each] !== undefined)
  const other = path === undefined ? undefined : OTHER_CALLS[path]
  if (path === undefined || other === undefined) return CLIENTS
  const { method } = other
  return [
    { id: 'curl', label: 'curl', write: (facts) => otherCurl(path, other, facts) },
    ...(method === undefined
      ? []
      : [
          {
            id: 'openai',
            label: 'OpenAI',
            write: (facts: SnippetFacts) => otherOpenAi(method, other, facts),
          } as const,
        ]),
  ]
}

function otherCurl(
  path: string,
  { fields, file }: OtherCall,
  { baseUrl, secret, model }: SnippetFacts,
): string {
  const head = `curl ${baseUrl}${path} \\
  -H "Authorization: Bearer ${secret}" \\
`
  if (file !== undefined) return `${head}  -F model=${model} -F file=@${file}`
  const rows = Object.entries({ model, ...fields }).map(
    ([name, value]) => `    "${name}": ${JSON.stringify(value)}`,
  )
  return `${head}  -H "Content-Type: application/json" \\
  -d '{
${rows.join(',\n')}
  }'`
}

function otherOpenAi(
  method: string,
  { fields, file }: OtherCall,
  { baseUrl, secret, model }: SnippetFacts,
): string {
  const rows = Object.entries({ model, ...fields }).map(
    ([name, value]) => `    ${name}=${JSON.stringify(value)},\n`,
  )
  return `${openAiClient({ baseUrl, secret })}
answer = client.${method}(
${rows.join('')}${file === undefined ? '' : `    file=open("${file}", "rb"),\n`})
print(answer)`
}

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
  return `${openAiClient({ baseUrl, secret })}
answer = client.responses.create(
    model="${model}", input="Hello")
print(answer.output_text)`
}

function openAiClient({ baseUrl, secret }: Omit<SnippetFacts, 'model'>): string {
  return `from openai import OpenAI

client = OpenAI(
    base_url="${baseUrl}/v1",
    api_key="${secret}",
)`
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
