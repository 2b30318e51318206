/** What a person reads at the end of a start: where the gateway listens, the new keys, and commands that work as printed. */
import type { NewKey } from '../management/gateway-file/write-account.ts'
import type { FirstRun } from '../management/accounts/first-run.ts'

export interface WelcomeFacts {
  readonly baseUrl: string
  readonly gatewayBaseUrl: string
  readonly opsUrl: string | undefined
  readonly firstRun: FirstRun
  /** The address for setting up the owner's password or passkey; undefined: not needed. */
  readonly setupUrl: string | undefined
  /** A model that can be called right now. */
  readonly exampleModel: string | undefined
  /** The model answers without leaving this machine. */
  readonly exampleIsOffline: boolean
  readonly nodeVersion: string
  /** Whether messages are sent over each channel; otherwise they are printed to the log. */
  readonly leaves: { readonly mail: boolean; readonly phone: boolean }
}

export function welcomeText(facts: WelcomeFacts): string {
  return [
    '',
    `Sluice is ready.`,
    `  base address     ${facts.baseUrl}      chat, responses, messages, Gemini, catalogue`,
    `  gateway address  ${facts.gatewayBaseUrl}      keys bound to a protocol group`,
    ...operations(facts.opsUrl),
    ...unsent(facts.leaves),
    ...unread(facts.firstRun),
    ...endOfLife(facts.nodeVersion),
    ...newKeys(facts),
    ...setup(facts.setupUrl),
    '',
  ].join('\n')
}

function operations(url: string | undefined): readonly string[] {
  return url === undefined ? [] : [`  operations       ${url}      /healthz /readyz /metrics`]
}

function unsent({ mail, phone }: WelcomeFacts['leaves']): readonly string[] {
  return [
    ...(mail ? [] : ['  mail             not configured (SLUICE_SMTP_URL): mails are printed to the log']),
    ...(phone ? [] : ['  phones           not configured (SLUICE_SMS_URL): codes are printed to the log']),
  ]
}

/** Settings that only a first start uses, if this is a later one. */
function unread(firstRun: FirstRun): readonly string[] {
  if (firstRun.kind === 'first' || firstRun.unread.length === 0) return []
  return ['', 'Ignored, because this is not the first start:', ...firstRun.unread.map((what) => `  ${what}`)]
}

function newKeys(facts: WelcomeFacts): readonly string[] {
  if (facts.firstRun.kind === 'not-first') return []
  const { newKeys: keys, gatewayFile } = facts.firstRun
  const applied = gatewayFile === undefined ? [] : ['', `Applied ${gatewayFile}.`]
  const [first] = keys
  if (first === undefined) return applied
  return [
    ...applied,
    '',
    ...keyLines(keys),
    ...(facts.exampleModel === undefined
      ? []
      : examples({ ...facts, exampleModel: facts.exampleModel }, first.plaintext.unwrap())),
  ]
}

/** For a start that fails after it has created keys; empty if it created none. */
export function newKeysText(firstRun: FirstRun): string {
  if (firstRun.kind === 'not-first' || firstRun.newKeys.length === 0) return ''
  return ['', ...keyLines(firstRun.newKeys), '', ''].join('\n')
}

function keyLines(keys: readonly NewKey[]): readonly string[] {
  return [
    'New API keys, shown this once:',
    ...keys.map((key) => `  ${key.plaintext.unwrap()}   (${key.account}, ${key.name})`),
  ]
}

function examples(facts: WelcomeFacts & { readonly exampleModel: string }, key: string): readonly string[] {
  const { baseUrl, exampleModel } = facts
  return [
    '',
    facts.exampleIsOffline
      ? `Try it now. ${exampleModel} answers offline, so nothing leaves this machine:`
      : 'Try it now:',
    '',
    `curl ${baseUrl}/v1/chat/completions \\`,
    `  -H 'Authorization: Bearer ${key}' -H 'Content-Type: application/json' \\`,
    `  -d '{"model":"${exampleModel}","messages":[{"role":"user","content":"Hello"}]}'`,
    '',
    'The OpenAI SDK (npm install openai):',
    '',
    `OPENAI_BASE_URL=${baseUrl}/v1 OPENAI_API_KEY=${key} node --input-type=module -e "`,
    `import OpenAI from 'openai'`,
    `const answer = await new OpenAI().chat.completions.create({ model: '${exampleModel}', messages: [{ role: 'user', content: 'Hello' }] })`,
    `console.log(answer.choices[0].message.content)"`,
    '',
    'Claude Code (npm install -g @anthropic-ai/claude-code):',
    '',
    `ANTHROPIC_BASE_URL=${baseUrl} ANTHROPIC_AUTH_TOKEN=${key} ANTHROPIC_MODEL=${exampleModel} claude -p Hello`,
  ]
}

function setup(url: string | undefined): readonly string[] {
  if (url === undefined) return []
  return [
    '',
    'The console. This link works once, within a day, and gives the owner a password or a passkey',
    '(npx sluice sign-in-link prints another one and ends this one):',
    `  ${url}`,
  ]
}

/** Node 20 still works, but is no longer maintained. */
function endOfLife(nodeVersion: string): readonly string[] {
  if (!nodeVersion.startsWith('v20.')) return []
  return ['', `Node ${nodeVersion} is past its end of life; use 24 LTS when you can.`]
}
