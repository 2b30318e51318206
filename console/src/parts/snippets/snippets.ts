/**
 * Snippets of a first call for every common client, which work when pasted. Models other than chat models are called at
 * their own endpoint, with the clients that support it.
 */
import { bodyLike, type Protocol, PROTOCOLS } from '../calls/same-call.ts'
import { curlOfOther, curlWith, type OtherCall, otherCallAt, pathFor, shownPath } from './other-calls.ts'

export interface SnippetFacts {
  /** The gateway's base URL without a trailing slash. */
  readonly baseUrl: string
  readonly secret: string
  readonly model: string
}

const CLIENTS = [
  { id: 'curl', label: 'curl', protocol: 'chat', write: curl },
  { id: 'openai', label: 'OpenAI', protocol: 'responses', write: openAi },
  { id: 'anthropic', label: 'Anthropic', protocol: 'messages', write: anthropic },
  { id: 'google', label: 'Google', protocol: 'gemini', write: google },
  { id: 'claude-code', label: 'Claude Code', protocol: 'messages', write: claudeCode },
  { id: 'codex', label: 'Codex', protocol: 'responses', write: codex },
] as const

export type ClientId = (typeof CLIENTS)[number]['id']

export interface Client {
  readonly id: ClientId
  readonly label: string
  readonly write: (facts: SnippetFacts) => string
}

const TALK = '/v1/chat/completions'

/** The part of a model that snippets need: the paths of its endpoints. */
export interface CalledModel {
  readonly model_id: string
  readonly endpoints: readonly string[]
}

/** The first chat model; without one, the first model. */
export function firstToCall<T extends CalledModel>(models: readonly T[]): T | undefined {
  return models.find(({ endpoints }) => endpoints.includes(TALK)) ?? models[0]
}

/**
 * The clients that can call a model with these endpoints; undefined: not loaded yet, a chat model is assumed.
 * @param only the protocol that a key is bound to by its group
 */
export function clientsFor(endpoints: readonly string[] | undefined, only?: string): readonly Client[] {
  const protocol = PROTOCOLS.find((each) => each === only)
  if (endpoints === undefined || endpoints.includes(TALK))
    return protocol === undefined ? CLIENTS : clientsOf(protocol)
  const path = shownPath(endpoints)
  const other = path === undefined ? undefined : otherCallAt(path)
  if (path === undefined || other === undefined) return CLIENTS
  const { method } = other
  return [
    { id: 'curl', label: 'curl', write: (facts) => curlOfOther(path, other, facts) },
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

/** The clients that use the protocol. */
function clientsOf(protocol: Protocol): readonly Client[] {
  return [
    { id: 'curl', label: 'curl', write: (facts) => curlIn(protocol, facts) },
    ...(protocol === 'chat' ? [{ id: 'openai', label: 'OpenAI', write: openAiChat } as const] : []),
    ...CLIENTS.filter(({ id, protocol: own }) => id !== 'curl' && own === protocol),
  ]
}

const TALKS: Readonly<Record<Protocol, string>> = {
  chat: TALK,
  responses: '/v1/responses',
  messages: '/v1/messages',
  gemini: '/v1beta/models/{model}:generateContent',
}

function curlIn(protocol: Protocol, { model, ...facts }: SnippetFacts): string {
  const body = bodyLike({ model, model_requested: model, stream: false }, protocol)
  return curlWith(pathFor(TALKS[protocol], model), JSON.stringify(body), facts)
}

function openAiChat(facts: SnippetFacts): string {
  return `${openAiClient(facts)}
answer = client.chat.completions.create(
    model="${facts.model}",
    messages=[{"role": "user", "content": "Hello"}])
print(answer.choices[0].message.content)`
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
${rows.join('')}${file === undefined ? '' : `    ${file[0]}=open("${file[1]}", "rb"),\n`})
print(answer)`
}

function curl({ model, ...facts }: SnippetFacts): string {
  const body = `{
    "model": ${JSON.stringify(model)},
    "messages": [
      {"role": "user", "content": "Hello"}
    ]
  }`
  return curlWith(TALK, body, facts)
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
print(*(part.text for part in answer.content if part.type == "text"))`
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
