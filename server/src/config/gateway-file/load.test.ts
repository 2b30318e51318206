import { describe, expect, test } from 'vitest'
import { sampleKind } from '../../../test/management/sample-catalogue.ts'
import type { Catalogue } from '../../core/catalogue.ts'
import { vendorCode } from '../../core/ids.ts'
import { UNLIMITED } from '../../core/limits/policy.ts'
import type { Environment } from '../environment.ts'
import { printMistake } from './file-node.ts'
import type { GatewayFile } from './gateway-file.ts'
import { jsonNode } from './json-node.ts'
import { type LoadOptions, loadGatewayFile, loadGatewayNode } from './load.ts'

const EMPTY: Catalogue = {
  settings: {
    currency: 'CNY',
    creditsPerUnit: '1000',
    otherCurrencies: { USD: '7200' },
    timezone: 'Asia/Shanghai',
    keyPrefix: 'sk-gateway-',
    limits: UNLIMITED,
  },
  vendors: new Map(),
  credentials: new Map(),
  models: new Map(),
  groups: new Map(),
  plans: new Map(),
}

function load(text: string, change: Partial<LoadOptions> = {}) {
  return loadGatewayFile({
    text,
    environment: {},
    kinds: [
      sampleKind('openai'),
      sampleKind('openai-compatible', { baseUrl: undefined }),
      sampleKind('anthropic', { protocols: ['messages'] }),
    ],
    known: EMPTY,
    missing: 'stays',
    ...change,
  })
}

function mistakesIn(text: string, change: Partial<LoadOptions> = {}): readonly string[] {
  const result = load(text, change)
  return result.kind === 'mistakes' ? result.mistakes.map((mistake) => printMistake('f', mistake)) : []
}

function fileIn(text: string, change: Partial<LoadOptions> = {}): GatewayFile {
  const result = load(text, change)
  if (result.kind === 'file') return result.file
  throw new Error(result.mistakes.map((mistake) => printMistake('f', mistake)).join('\n'))
}

/** Valid rows that the tables below lean on; they take the first three lines. */
const BASE = [
  'vendors: [{code: openai, kind: openai, credentials: [{name: main}, {name: spare}]}, {code: own, kind: openai}]',
  'groups: [{name: set, protocol: chat, models: [gpt-5]}]',
  'plans: [{code: PRO, level: 2, price: 199}]',
  '',
].join('\n')
const MODEL = 'models: [{model_id: gpt-5, pricing: {input_price: 1, output_price: 2}}]\n'

describe('each error is reported with line, column and path', () => {
  test.each<[string, string, string]>([
    ['unknown section', `${MODEL}modles: []\n`, 'f:5:1 modles: is an unknown field; did you mean models?'],
    [
      'unknown field',
      `${MODEL}accounts:\n  - email: a@b\n    kyes: []\n`,
      'f:7:5 accounts[0].kyes: is an unknown field; did you mean keys?',
    ],
    [
      'unknown field without a near name',
      `${MODEL}settings: {colour: red}\n`,
      'f:5:12 settings.colour: is an unknown field; known here: currency, currencies, credits_per_yuan, timezone, key_prefix, limits',
    ],
    ['a section of the wrong type', `${MODEL}accounts: {email: a@b}\n`, 'f:5:11 accounts: must be a list'],
    ['a row of the wrong type', `${MODEL}accounts: [a@b]\n`, 'f:5:12 accounts[0]: must be a map'],
    [
      'text where a number is meant',
      'models: [{model_id: gpt-5, context_tokens: many, pricing: {input_price: 1, output_price: 2}}]',
      'f:4:44 models[0].context_tokens: must be a whole number from 1 to 1000000000',
    ],
    [
      'a word where a truth is meant',
      'models: [{model_id: gpt-5, client_visible: yes, pricing: {input_price: 1, output_price: 2}}]',
      'f:4:44 models[0].client_visible: must be true or false',
    ],
    [
      'a bad decimal',
      'models: [{model_id: gpt-5, pricing: {input_price: 1.2.3, output_price: 2}}]',
      'f:4:51 models[0].pricing.input_price: must be a decimal number',
    ],
    [
      'a negative price',
      'models: [{model_id: gpt-5, pricing: {input_price: -1, output_price: 2}}]',
      'f:4:51 models[0].pricing.input_price: must not be negative',
    ],
    ['no prices at all', 'models: [{model_id: gpt-5}]', 'f:4:10 models[0].pricing: is missing'],
    [
      'price missing for token billing',
      'models: [{model_id: gpt-5, pricing: {input_price: 1}}]',
      'f:4:37 models[0].pricing.output_price: is missing: billing mode token needs it',
    ],
    [
      'price of output missing where one of several chains makes tokens',
      'models: [{model_id: gpt-5, pricing: {input_price: 1}, chains: [{vendor: openai, credential: main, protocol: embeddings}, {vendor: openai, credential: main, protocol: chat}]}]',
      'f:4:37 models[0].pricing.output_price: is missing: billing mode token needs it',
    ],
    [
      'price missing for image billing',
      'models: [{model_id: gpt-5, pricing: {billing_modes: [image]}}]',
      'f:4:37 models[0].pricing.image_price: is missing: billing mode image needs it',
    ],
    [
      'price null for video billing',
      'models: [{model_id: gpt-5, pricing: {billing_modes: [video_second], video_price: null}}]',
      'f:4:82 models[0].pricing.video_price: is missing: billing mode video_second needs it',
    ],
    [
      'price missing for request billing',
      'models: [{model_id: gpt-5, pricing: {billing_modes: [request]}}]',
      'f:4:37 models[0].pricing.request_price: is missing: billing mode request needs it',
    ],
    [
      'no way of billing',
      'models: [{model_id: gpt-5, pricing: {billing_modes: []}}]',
      'f:4:53 models[0].pricing.billing_modes: must name at least one way of billing',
    ],
    [
      'unknown billing mode',
      'models: [{model_id: gpt-5, pricing: {billing_modes: [tokens], input_price: 1, output_price: 1}}]',
      'f:4:54 models[0].pricing.billing_modes[0]: must be one of token, image, video_second, request, character, audio_second; did you mean token?',
    ],
    [
      'unknown status',
      'models: [{model_id: gpt-5, status: off, pricing: {input_price: 1, output_price: 2}}]',
      'f:4:36 models[0].status: must be one of enabled, disabled, maintenance',
    ],
    [
      'unknown feature',
      'models: [{model_id: gpt-5, support_features: [vision], pricing: {input_price: 1, output_price: 2}}]',
      'f:4:47 models[0].support_features[0]: must be one of text, image, audio, video',
    ],
    [
      'a level that does not exist',
      'models: [{model_id: gpt-5, required_plan: 4, pricing: {input_price: 1, output_price: 2}}]',
      'f:4:43 models[0].required_plan: must be a whole number, at most 3',
    ],
    [
      'a surcharge of nothing',
      'models: [{model_id: gpt-5, surcharges: {service_tier.priority: 0}, pricing: {input_price: 1, output_price: 2}}]',
      'f:4:64 models[0].surcharges.service_tier.priority: must be above 0',
    ],
    [
      'a surcharge per something else',
      'models: [{model_id: gpt-5, surcharges: {web_search_call: {per_use: 1}}, pricing: {input_price: 1, output_price: 2}}]',
      'f:4:58 models[0].surcharges.web_search_call.per_call: is missing',
    ],
    [
      'a refused field that names none',
      'models: [{model_id: gpt-5, refuse: [service tier], pricing: {input_price: 1, output_price: 2}}]',
      'f:4:37 models[0].refuse[0]: must be a field like web_search_options, or a field and its value like service_tier.priority',
    ],
    [
      'more grace than any answer is worth',
      `models: [{model_id: gpt-5, pricing: {input_price: 1, output_price: 2}, chains: [{vendor: openai, credential: main, protocol: chat, client_gone_grace_ms: 60001}]}]`,
      'f:4:154 models[0].chains[0].client_gone_grace_ms: must be a whole number from 0 to 60000',
    ],
    [
      'an ability no chain has',
      `models: [{model_id: gpt-5, pricing: {input_price: 1, output_price: 2}, chains: [{vendor: openai, credential: main, protocol: chat, capabilities: {reasonning: effort}}]}]`,
      'f:4:147 models[0].chains[0].capabilities.reasonning: is an unknown field; did you mean reasoning?',
    ],
    [
      'the same model twice',
      `models:\n  - {model_id: gpt-5, pricing: {input_price: 1, output_price: 2}}\n  - {model_id: gpt-5}\n`,
      'f:6:5 models[1]: is a second model gpt-5; first in line 5',
    ],
    [
      'a chain to an unknown vendor',
      `models: [{model_id: gpt-5, pricing: {input_price: 1, output_price: 2}, chains: [{vendor: opneai, protocol: chat}]}]`,
      'f:4:90 models[0].chains[0].vendor: refers to an unknown vendor: opneai; did you mean openai?',
    ],
    [
      'a chain to an unknown credential',
      `models: [{model_id: gpt-5, pricing: {input_price: 1, output_price: 2}, chains: [{vendor: openai, credential: mian, protocol: chat}]}]`,
      'f:4:110 models[0].chains[0].credential: refers to an unknown credential of vendor openai: mian; did you mean main?',
    ],
    [
      'a chain that leaves open which credential',
      `models: [{model_id: gpt-5, pricing: {input_price: 1, output_price: 2}, chains: [{vendor: openai, protocol: chat}]}]`,
      'f:4:81 models[0].chains[0].credential: is missing: vendor openai has several: main, spare',
    ],
    [
      'a chain without a protocol',
      `models: [{model_id: gpt-5, pricing: {input_price: 1, output_price: 2}, chains: [{vendor: own}]}]`,
      'f:4:81 models[0].chains[0].protocol: is missing',
    ],
    [
      'the same chain twice',
      `models: [{model_id: gpt-5, pricing: {input_price: 1, output_price: 2}, chains: [{vendor: own, protocol: chat}, {vendor: own, credential: main, protocol: chat, forward_model_id: gpt-5}]}]`,
      'f:4:112 models[0].chains[1]: is a second chain of the same vendor, credential, protocol and forward_model_id; first in line 4',
    ],
    [
      'a bad time zone',
      `${MODEL}settings: {timezone: Asia/Shangai}\n`,
      'f:5:22 settings.timezone: must be a time zone like Asia/Shanghai; did you mean Asia/Shanghai?',
    ],
    [
      'a rate of nothing',
      `${MODEL}settings: {credits_per_yuan: 0}\n`,
      'f:5:30 settings.credits_per_yuan: must be above 0',
    ],
    [
      'an unknown dimension',
      `${MODEL}settings: {limits: {windows: [{dimension: request, limit: 1, seconds: 1}]}}\n`,
      'f:5:43 settings.limits.windows[0].dimension: must be one of requests, tokens, images, videos, amount, video_seconds, characters, audio_seconds; did you mean requests?',
    ],
    [
      'a window without a length',
      `${MODEL}settings: {limits: {windows: [{dimension: requests, limit: 1}]}}\n`,
      'f:5:31 settings.limits.windows[0].seconds: is missing',
    ],
    [
      'two windows of one tier',
      `${MODEL}settings:\n  limits:\n    windows:\n      - {dimension: requests, limit: 1, seconds: 60}\n      - {dimension: requests, limit: 2, seconds: 60}\n`,
      'f:9:9 settings.limits.windows[1]: is a second window of requests over 60 s; first in line 8',
    ],
    [
      'a concurrency of none',
      `${MODEL}settings: {limits: {concurrency: 0}}\n`,
      'f:5:34 settings.limits.concurrency: must be a whole number from 1 to 1000000; leave it out for no limit',
    ],
    [
      'an account nobody can name',
      `${MODEL}accounts: [{role: admin}]\n`,
      'f:5:12 accounts[0]: must have an email or a phone',
    ],
    [
      'a bad e-mail address',
      `${MODEL}accounts: [{email: somebody}]\n`,
      'f:5:20 accounts[0].email: must be an e-mail address',
    ],
    [
      'a bad phone number',
      `${MODEL}accounts: [{phone: call me}]\n`,
      'f:5:20 accounts[0].phone: must be a phone number: digits, with + and the country code before them',
    ],
    [
      'a phone number without its country',
      `${MODEL}accounts: [{phone: 13800138000}]\n`,
      'f:5:20 accounts[0].phone: must be a phone number: digits, with + and the country code before them',
    ],
    [
      'an e-mail address nobody can have',
      `${MODEL}accounts: [{email: "a@b@example.com"}]\n`,
      'f:5:20 accounts[0].email: must be an e-mail address',
    ],
    [
      'the same number twice, however it is written',
      `${MODEL}accounts:\n  - {phone: "+8613800138000"}\n  - {phone: "+86 138 0013 8000"}\n`,
      'f:7:5 accounts[1]: is a second phone +8613800138000; first in line 6',
    ],
    [
      'the same account twice, whatever the case',
      `${MODEL}accounts:\n  - {email: a@b}\n  - {email: A@B}\n`,
      'f:7:5 accounts[1]: is a second email a@b; first in line 6',
    ],
    [
      'too fine an amount',
      `${MODEL}accounts: [{email: a@b, credits: 0.0000001}]\n`,
      'f:5:34 accounts[0].credits: must have at most 6 decimals',
    ],
    [
      'a subscription to an unknown plan',
      `${MODEL}accounts: [{email: a@b, subscription: {plan: PROO}}]\n`,
      'f:5:46 accounts[0].subscription.plan: refers to an unknown plan: PROO; did you mean PRO?',
    ],
    [
      'an unknown fallback model',
      `${MODEL}accounts: [{email: a@b, fallback_model: gpt5}]\n`,
      'f:5:41 accounts[0].fallback_model: refers to an unknown model: gpt5; did you mean gpt-5?',
    ],
    [
      'an own credential for an unknown vendor',
      `${MODEL}accounts: [{email: a@b, byok: [{vendor: nobody, secret: s}]}]\n`,
      'f:5:41 accounts[0].byok[0].vendor: refers to an unknown vendor: nobody',
    ],
    [
      'a secret without the prefix',
      `${MODEL}accounts: [{email: a@b, keys: [{name: k, secret: sk-other-123}]}]\n`,
      'f:5:50 accounts[0].keys[0].secret: must begin with sk-gateway- and go on with letters, digits, - and _',
    ],
    [
      'a secret that is only the prefix',
      `${MODEL}accounts: [{email: a@b, keys: [{name: k, secret: sk-gateway-}]}]\n`,
      'f:5:50 accounts[0].keys[0].secret: must begin with sk-gateway- and go on with letters, digits, - and _',
    ],
    [
      'one secret for two keys',
      `${MODEL}accounts:\n  - email: a@b\n    keys:\n      - {name: k, secret: sk-gateway-1}\n      - {name: l, secret: sk-gateway-1}\n`,
      'f:9:27 accounts[0].keys[1].secret: is a second key with this secret; first in line 8',
    ],
    [
      'two keys of one name',
      `${MODEL}accounts: [{email: a@b, keys: [{name: k}, {name: k}]}]\n`,
      'f:5:43 accounts[0].keys[1]: is a second key k; first in line 5',
    ],
    [
      'a key without a name',
      `${MODEL}accounts: [{email: a@b, keys: [{status: enabled}]}]\n`,
      'f:5:32 accounts[0].keys[0].name: is missing',
    ],
    [
      'a key in an unknown group',
      `${MODEL}accounts: [{email: a@b, keys: [{name: k, group: sets}]}]\n`,
      'f:5:49 accounts[0].keys[0].group: refers to an unknown group: sets; did you mean set?',
    ],
    [
      'a key for an unknown model',
      `${MODEL}accounts: [{email: a@b, keys: [{name: k, models: [none]}]}]\n`,
      'f:5:51 accounts[0].keys[0].models[0]: refers to an unknown model: none',
    ],
    [
      'a bad CIDR range',
      `${MODEL}accounts: [{email: a@b, keys: [{name: k, ip_allow: [10.0.0.0/33]}]}]\n`,
      'f:5:53 accounts[0].keys[0].ip_allow[0]: must be a CIDR range like 10.0.0.0/8 or an address, not 10.0.0.0/33',
    ],
    [
      'a bad date',
      `${MODEL}accounts: [{email: a@b, keys: [{name: k, expires_at: 2027-02-30}]}]\n`,
      'f:5:54 accounts[0].keys[0].expires_at: must be a date like 2027-01-31 or 2027-01-31T12:00:00Z, or Unix seconds or milliseconds',
    ],
    [
      'an unset variable',
      `${MODEL}accounts:\n  - email: a@b\n    password: \${OWNER_PASSWORD}\n`,
      'f:7:15 accounts[0].password: the environment variable OWNER_PASSWORD is not set: set it, or write ${OWNER_PASSWORD:-default}',
    ],
    [
      'a variable cut short',
      `${MODEL}accounts: [{email: a@b, password: "\${OWNER"}]\n`,
      'f:5:35 accounts[0].password: ${OWNER is not a reference: write ${NAME} or ${NAME:-default}, or $${ for the characters themselves',
    ],
  ])('%s', (_sentence, text, expected) => {
    expect(mistakesIn(`${BASE}${text}`)[0]).toBe(expected)
  })

  test.each<[string, string, string]>([
    [
      'an unknown kind',
      'vendors: [{code: v, kind: opneai}]',
      'f:1:27 vendors[0].kind: is an unknown vendor kind; did you mean openai?',
    ],
    ['a new vendor without a kind', 'vendors: [{code: v}]', 'f:1:11 vendors[0].kind: is missing'],
    [
      'a kind without an address of its own',
      'vendors: [{code: v, kind: openai-compatible}]',
      'f:1:11 vendors[0].base_url: is missing: kind openai-compatible has no address of its own',
    ],
    [
      'a bad address',
      'vendors: [{code: v, kind: openai, base_url: api.openai.com}]',
      'f:1:45 vendors[0].base_url: must be an address like https://api.example.com/v1',
    ],
    [
      'a vendor twice',
      'vendors:\n  - {code: v, kind: openai}\n  - {code: v, kind: openai}',
      'f:3:5 vendors[1]: is a second vendor v; first in line 2',
    ],
    [
      'a credential twice',
      'vendors: [{code: v, kind: openai, credentials: [{name: a}, {name: a}]}]',
      'f:1:60 vendors[0].credentials[1]: is a second credential a; first in line 1',
    ],
    [
      'a new group without a protocol',
      'groups: [{name: g, models: []}]',
      'f:1:10 groups[0].protocol: is missing',
    ],
    [
      'a group of an unknown protocol',
      'groups: [{name: g, protocol: message, models: []}]',
      'f:1:30 groups[0].protocol: must be one of chat, responses, messages, gemini, embeddings, gemini-embeddings, moderation, rerank, images, speech, transcription; did you mean messages?',
    ],
    ['a new plan without a price', 'plans: [{code: BIG, level: 1}]', 'f:1:9 plans[0].price: is missing'],
    [
      'a plan that is another level',
      'plans: [{code: PRO, level: 3, price: 1}]',
      'f:1:28 plans[0].level: must be 2: PRO is that level',
    ],
    [
      'a quota twice',
      'plans: [{code: X, level: 1, price: 1, quota: [{credits: 1, seconds: 5}, {credits: 2, seconds: 5}]}]',
      'f:1:73 plans[0].quota[1]: is a second quota over 5 s; first in line 1',
    ],
    [
      'a name twice in one map',
      'settings:\n  currency: CNY\n  currency: USD',
      'f:3:3 settings.currency: appears twice; first in line 2',
    ],
    [
      'no YAML at all',
      'settings: {currency: [}',
      'f:1:23: flow sequence in block collection must be sufficiently indented and end with a ]',
    ],
    ['nothing', '', 'f:1:1: is empty'],
    ['a list', '- a', 'f:1:1: must be a map, not a list'],
    ['an anchor nobody set', 'settings: *none', 'f:1:11 settings: there is no anchor &none'],
    ['a node inside itself', 'plans: &plans [*plans]', 'f:1:16 plans[0]: refers to itself'],
  ])('%s', (_sentence, text, expected) => {
    expect(mistakesIn(text)).toContain(expected)
  })

  test('all of them at once, in the order of the file', () => {
    const mistakes = mistakesIn(
      'vendors:\n  - {code: v, kind: opneai}\nmodels:\n  - {model_id: m, pricing: {}}\n  - {model_id: n, chains: [{vendor: w, protocol: chat}], pricing: {input_price: x, output_price: 1}}\naccounts:\n  - {email: a@b, keys: [{name: k, secret: nope}]}\n',
    )
    expect(mistakes.map((mistake) => mistake.split(' ', 2)[1])).toEqual([
      'vendors[0].kind:',
      'models[0].pricing.input_price:',
      'models[0].pricing.output_price:',
      'models[1].chains[0].vendor:',
      'models[1].pricing.input_price:',
      'accounts[0].keys[0].secret:',
    ])
  })

  test('in JSON, with the lines of the JSON', () => {
    const json =
      '{\n\t"models": [\n\t\t{ "model_id": "m",\n\t\t  "pricing": { "input_price": "x", "output_price": 1 } }\n\t]\n}'
    expect(mistakesIn(json)).toEqual(['f:4:33 models[0].pricing.input_price: must be a decimal number'])
  })
})

test('a group that names an unknown model is a warning: the file is applied', () => {
  const result = load('groups: [{name: g, protocol: chat, models: [gpt-5]}]')
  expect(result.kind === 'file' && result.warnings.map((warning) => printMistake('f', warning))).toEqual([
    'f:1:45 groups[0].models[0]: refers to an unknown model: gpt-5',
  ])
})

describe('numbers and texts are taken as they are written', () => {
  const priced = (price: string) =>
    fileIn(`models: [{model_id: m, pricing: {input_price: ${price}, output_price: 0}}]`).models?.[0]?.pricing
      ?.inputPrice

  test.each([
    ['0.9', '0.9'],
    ['0.1000', '0.1'],
    ['1e-7', '0.0000001'],
    ['"12.50"', '12.5'],
    ['123456789012345678901234567890.123456789', '123456789012345678901234567890.123456789'],
    ['0.30000000000000004', '0.30000000000000004'],
    ['.5', '0.5'],
  ])('the price %s is %s', (written, expected) => {
    expect(priced(written)).toBe(expected)
  })

  test('digits without quotes are text where text is meant', () => {
    const text = 'accounts: [{phone: +8613800000000, password: 0012, keys: [{name: 1e3}]}]'
    const account = fileIn(text).accounts?.[0]
    expect(account?.phone).toBe('+8613800000000')
    expect(account?.password?.unwrap()).toBe('0012')
    expect(account?.keys?.[0]?.name).toBe('1e3')
  })

  test.each([
    ['an e-mail address in capitals and blanks', { email: ' Person@Example.COM ' }, 'person@example.com'],
    ['a domain of other letters', { email: 'a@пример.рф' }, 'a@xn--e1afmkfd.xn--p1ai'],
    ['a phone number with blanks and hyphens', { phone: '+86 138-0013-8000' }, '+8613800138000'],
    ['a phone number in full-width digits', { phone: '＋８６13800138000' }, '+8613800138000'],
    ['a phone number of the country of the environment', { phone: '138 0013 8000' }, '+8613800138000'],
  ])('%s is kept in the one form accounts are found by', (_sentence, login, expected) => {
    const account = fileIn(JSON.stringify({ accounts: [login] }), { phoneRegion: 'CN' }).accounts?.[0]
    expect(account?.email ?? account?.phone).toBe(expected)
  })

  test.each([
    ['2030-01-31', '2030-01-31T00:00:00.000Z'],
    ['2030-01-31T12:00:00+08:00', '2030-01-31T04:00:00.000Z'],
    ['1896091200', '2030-01-31T12:00:00.000Z'],
  ])('the instant %s is %s', (written, expected) => {
    const key = fileIn(`accounts: [{email: a@b, keys: [{name: k, expires_at: ${written}}]}]`).accounts?.[0]
      ?.keys?.[0]
    expect(new Date(key?.expiresAt ?? 0).toISOString()).toBe(expected)
  })

  test('a credential may have a secret, fields, or both', () => {
    const text =
      'vendors: [{code: v, kind: openai, base_url: "https://{region}.example.com/", credentials: [{name: a, secret: s, fields: {region: 1}}]}]'
    const vendor = fileIn(text).vendors?.[0]
    const secret = vendor?.credentials?.[0]?.secret
    expect([secret?.secret?.unwrap(), secret?.fields['region']?.unwrap()]).toEqual(['s', '1'])
    expect(vendor?.baseUrl).toBe('https://{region}.example.com')
  })

  test('JSON says the same as YAML', () => {
    const yaml = fileIn(`${BASE}${MODEL}`)
    const json = fileIn(
      JSON.stringify({
        vendors: [
          { code: 'openai', kind: 'openai', credentials: [{ name: 'main' }, { name: 'spare' }] },
          { code: 'own', kind: 'openai' },
        ],
        groups: [{ name: 'set', protocol: 'chat', models: ['gpt-5'] }],
        plans: [{ code: 'PRO', level: 2, price: 199 }],
        models: [{ model_id: 'gpt-5', pricing: { input_price: 1, output_price: 2 } }],
      }),
    )
    expect(withoutPlaces(json)).toEqual(withoutPlaces(yaml))
  })
})

describe('variables', () => {
  const passwordOf = (written: string, environment: Environment) =>
    fileIn(`accounts: [{email: a@b, password: ${written}}]`, {
      environment,
    }).accounts?.[0]?.password?.unwrap()

  test.each<[string, string, Environment, string | undefined]>([
    ['${NAME} takes the variable', '${P}', { P: 'open sesame' }, 'open sesame'],
    ['it may be part of a text', '"a ${P} b"', { P: '1' }, 'a 1 b'],
    ['${NAME:-default} takes the variable when it is set', '${P:-other}', { P: 'set' }, 'set'],
    ['and the default when it is not', '${P:-other}', {}, 'other'],
    ['or when it is set to nothing', '${P:-other}', { P: '' }, 'other'],
    ['an empty default means: not said', '${P:-}', {}, undefined],
    ['what looks like a number stays a text', '${P}', { P: '0012' }, '0012'],
    ['so does what looks like a truth', '${P}', { P: 'true' }, 'true'],
    ['$${ writes the characters themselves', '"$${P}"', { P: 'no' }, '${P}'],
    ['a lone dollar is nothing special', 'pa$$word', {}, 'pa$$word'],
    ['a variable is not expanded twice', '${P}', { P: '${Q}', Q: 'no' }, '${Q}'],
  ])('%s', (_sentence, written, environment, expected) => {
    expect(passwordOf(written, environment)).toBe(expected)
  })

  test('a variable is a number or a truth where one is meant, in JSON too', () => {
    const text = '{"accounts": [{"email": "a@b", "credits": "${C}", "api_deduction": "${D}"}]}'
    expect(fileIn(text, { environment: { C: '12.5', D: 'false' } }).accounts?.[0]).toMatchObject({
      credits: '12.5',
      apiDeduction: false,
    })
  })

  test('a reference may be in a map on one line, with its default and beside others', () => {
    const text =
      'accounts: [{email: a@b, byok: [{vendor: v, secret: ${A}}, {vendor: w, secret: ${B:-x, y: #z}}]}]'
    const file = fileIn(`vendors: [{code: v, kind: openai}, {code: w, kind: openai}]\n${text}`, {
      environment: { A: 'first' },
    })
    expect(file.accounts?.[0]?.byok?.map((row) => row.secret?.secret?.unwrap())).toEqual([
      'first',
      'x, y: #z',
    ])
  })

  test('characters of private use are left alone', () => {
    const text = 'accounts: [{email: a@b, password: \ue024${A}\uf8ff\ue07b}]'
    expect(fileIn(text, { environment: { A: '-' } }).accounts?.[0]?.password?.unwrap()).toBe(
      '\ue024-\uf8ff\ue07b',
    )
  })

  test('every unset variable is reported', () => {
    expect(mistakesIn('accounts:\n  - email: ${A}\n    password: ${B}\n')).toHaveLength(3)
  })
})

test('what a request holds is meant as it is written: no reference, no merged map', () => {
  const options = { kinds: [], known: EMPTY, missing: 'stays' } as const
  const password = { accounts: [{ email: 'a@b', password: '${P} $${Q}' }] }
  const read = loadGatewayNode(jsonNode(password), options)
  expect(read.kind === 'file' && read.file.accounts?.[0]?.password?.unwrap()).toBe('${P} $${Q}')
  const merged = loadGatewayNode(jsonNode({ accounts: [{ email: 'a@b', '<<': { credits: 1 } }] }), options)
  expect(merged).toMatchObject({ kind: 'mistakes', mistakes: [{ place: { path: 'accounts[0].<<' } }] })
})

describe('a chain speaks what the kind of its vendor speaks', () => {
  const chainOf = (protocol: string) =>
    `models: [{model_id: m, pricing: {input_price: 1, output_price: 2}, chains: [{vendor: own, protocol: ${protocol}, forward_model_id: f}]}]`
  const vendor = 'vendors: [{code: own, kind: anthropic}]\n'

  test('one of its protocols', () => {
    expect(mistakesIn(vendor + chainOf('messages'))).toEqual([])
  })

  test.each(['chat', 'gemini', 'video', 'embeddings'])('not %s', (protocol) => {
    expect(mistakesIn(vendor + chainOf(protocol))).toContainEqual(
      expect.stringMatching(
        `models\\[0\\].chains\\[0\\].protocol: is ${protocol}, which vendor own of the kind anthropic does not speak; it speaks messages$`,
      ),
    )
  })
})

test.each([
  [
    '',
    [
      'f:2:10 models[0].support_features: lacks video: all of its chains make videos, and no call reaches them',
    ],
  ],
  ['support_features: [text, video], ', []],
])('a model that only makes videos and does not say so is a warning (%s)', (features, warnings) => {
  const result = load(
    `vendors: [{code: own, kind: openai}]\nmodels: [{model_id: m, ${features}pricing: {billing_modes: [video_second], video_price: 1}, chains: [{vendor: own, protocol: video}]}]`,
  )
  expect(result.kind === 'file' && result.warnings.map((one) => printMistake('f', one))).toEqual(warnings)
})

describe('a chain whose calls cannot be charged is a warning', () => {
  const vendor = 'vendors: [{code: own, kind: openai}]\n'
  const warningsIn = (modes: string, prices: string, protocol: string) => {
    const result = load(
      `${vendor}models: [{model_id: m, support_features: [text, video], pricing: {billing_modes: [${modes}], ${prices}}, chains: [{vendor: own, protocol: ${protocol}}]}]`,
    )
    return result.kind === 'file' ? result.warnings.map((one) => printMistake('f', one)) : result
  }

  test.each([
    ['image', 'image_price: 1', 'embeddings', 'token or request'],
    ['image', 'image_price: 1', 'moderation', 'token or request'],
    ['video_second', 'video_price: 1', 'chat', 'token or image or request'],
    ['image', 'image_price: 1', 'video', 'video_second or request'],
  ])('billed by %s (%s) over %s', (modes, prices, protocol, ways) => {
    expect(warningsIn(modes, prices, protocol)).toEqual([
      expect.stringMatching(
        `models\\[0\\].chains\\[0\\].protocol: its calls are free: over ${protocol} they are billed by ${ways}`,
      ),
    ])
  })

  test.each([
    ['image', 'image_price: 1', 'images'],
    ['image', 'image_price: 1', 'chat'],
    ['request', 'request_price: 0', 'moderation'],
    ['token, image', 'input_price: 1, image_price: 1', 'embeddings'],
  ])('but not billed by %s (%s) over %s', (modes, prices, protocol) => {
    expect(warningsIn(modes, prices, protocol)).toEqual([])
  })
})

describe('YAML that repeats itself', () => {
  test('anchors, aliases and merged maps are resolved', () => {
    const file = fileIn(
      'plans:\n  - &base {code: PLUS, level: 1, price: 10, period_days: 7}\n  - {<<: *base, code: OWN, price: 20}\n',
    )
    expect(file.plans).toMatchObject([
      { code: 'PLUS', price: '10', periodDays: 7 },
      { code: 'OWN', level: 1, price: '20', periodDays: 7 },
    ])
  })
})

describe('what is stored already need not be in the file', () => {
  const stored: Catalogue = {
    ...EMPTY,
    settings: { ...EMPTY.settings, keyPrefix: 'sk-mine-' },
    vendors: new Map([
      [
        vendorCode('stored'),
        {
          code: vendorCode('stored'),
          name: 'Stored',
          kind: 'openai-compatible',
          baseUrl: 'http://127.0.0.1',
          timeouts: { connectMs: 1, firstByteMs: 1, idleMs: 1 },
          status: 'enabled',
        },
      ],
    ]),
    plans: new Map([
      ['PRO', { code: 'PRO', level: 2, price: '1', currency: 'CNY', periodDays: 30, quota: [] }],
    ]),
  }

  test.each([
    ['a change of a stored vendor needs no kind and no address', 'vendors: [{code: stored, name: Other}]'],
    ['an account may subscribe to a stored plan', 'accounts: [{email: a@b, subscription: {plan: PRO}}]'],
    ['the stored key prefix holds', 'accounts: [{email: a@b, keys: [{name: k, secret: sk-mine-1}]}]'],
    [
      'a prefix in the file holds before the stored one',
      'settings: {key_prefix: sk-new-}\naccounts: [{email: a@b, keys: [{name: k, secret: sk-new-1}]}]',
    ],
  ])('%s', (_sentence, text) => {
    expect(mistakesIn(text, { known: stored })).toEqual([])
  })

  test('but what pruning would switch off cannot be named', () => {
    const text = 'plans: []\naccounts: [{email: a@b, subscription: {plan: PRO}}]'
    expect(mistakesIn(text, { known: stored, missing: 'prune' })).toEqual([
      'f:2:46 accounts[0].subscription.plan: refers to an unknown plan: PRO',
    ])
  })
})

function withoutPlaces(file: GatewayFile): unknown {
  return JSON.parse(
    JSON.stringify(file, (name, value: unknown) => (/place$/i.test(name) ? undefined : value)),
  )
}

test('a model whose chains make no tokens has no price for them', () => {
  const text = `${BASE}models: [{model_id: vectors, pricing: {input_price: 1}, chains: [{vendor: openai, credential: main, protocol: embeddings}]}]`
  expect(load(text)).toMatchObject({
    kind: 'file',
    file: { models: [{ pricing: { inputPrice: '1', outputPrice: null } }] },
  })
})
