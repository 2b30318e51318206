import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, test } from 'vitest'
import { framed } from '../../../test/passthrough/sample-answers.ts'
import { bytesOf, cutAnywhere, FUZZ_SEED, seededChance } from '../../../test/passthrough/test-kit.ts'
import type { ProtocolId } from '../catalogue.ts'
import { type ExtrasWatchOptions, watchExtras } from './extras-watch.ts'

interface Told {
  readonly counted: Readonly<Record<string, number>>
  readonly seen: Readonly<Record<string, number>>
  readonly fields: Readonly<Record<string, string>>
}

const NOTHING: Told = { counted: {}, seen: {}, fields: {} }

/** However the answer is split into pieces, the result is the same. */
function told(
  protocol: ProtocolId,
  form: 'stream' | 'whole',
  text: string,
  options?: ExtrasWatchOptions,
): Told {
  const tellings = Array.from({ length: 8 }, (_, run) => {
    const watch = watchExtras(protocol, options)
    watch.begin(form)
    for (const piece of cutAnywhere(bytesOf(text), seededChance(FUZZ_SEED + run), run * 4)) watch.push(piece)
    const { counted, seen, fields } = watch.read()
    return {
      counted: Object.fromEntries(counted),
      seen: Object.fromEntries(seen),
      fields: Object.fromEntries(fields),
    }
  })
  for (const telling of tellings) expect(telling).toEqual(tellings[0])
  return tellings[0] ?? NOTHING
}

const item = (type: string, more: object = {}) => ({ type, id: 'x', status: 'completed', ...more })
const look = (type: string) => item('web_search_call', { action: { type } })

describe('the extras of a whole answer', () => {
  test.each<readonly [what: string, protocol: ProtocolId, body: object, expected: Partial<Told>]>([
    ['nothing', 'chat', { choices: [{ message: { content: 'web_search_call' } }] }, {}],
    ['the tier of a chat', 'chat', { service_tier: 'Priority' }, { fields: { service_tier: 'priority' } }],
    ['a tier that only repeats the question', 'chat', { service_tier: 'auto' }, {}],
    [
      'sources of a chat, which are one search',
      'chat',
      {
        choices: [
          { message: { annotations: [{ url_citation: { url: 'a' } }, { url_citation: { url: 'b' } }] } },
        ],
      },
      { seen: { web_search: 1 } },
    ],
    [
      'searches that a router counts',
      'chat',
      { usage: { server_tool_use_details: { web_search_requests: 2 } } },
      { counted: { web_search: 2 } },
    ],
    [
      'searches of a search engine',
      'chat',
      { usage: { num_search_queries: 3 } },
      { counted: { web_search: 3 } },
    ],
    [
      'every tool at work in a response, but no page that was only opened',
      'responses',
      {
        service_tier: 'default',
        output: [
          look('search'),
          look('open_page'),
          look('find_in_page'),
          item('web_search_call'),
          item('code_interpreter_call'),
          item('function_call'),
          item('mcp_call'),
        ],
      },
      {
        seen: { web_search_call: 2, code_interpreter_call: 1, mcp_call: 1 },
        fields: { service_tier: 'default' },
      },
    ],
    [
      'the vendor’s own count of searches',
      'responses',
      { tool_usage: { web_search: { num_requests: 4 } } },
      { counted: { web_search_call: 4 } },
    ],
    [
      'tools, tier, speed and place of a message',
      'messages',
      {
        content: [
          { type: 'server_tool_use', name: 'web_search' },
          { type: 'web_search_tool_result' },
          { type: 'tool_use', name: 'web_search' },
          { type: 'mcp_tool_use', name: 'echo' },
          { type: 'text', text: 'x' },
        ],
        usage: {
          service_tier: 'standard',
          speed: 'fast',
          inference_geo: 'us',
          server_tool_use: { web_search_requests: 1, web_fetch_requests: 0 },
        },
      },
      {
        counted: { web_search: 1, web_fetch: 0 },
        seen: { web_search: 1, mcp_tool_use: 1 },
        fields: { service_tier: 'standard', speed: 'fast', inference_geo: 'us' },
      },
    ],
    ['a place that is not told', 'messages', { usage: { inference_geo: 'not_available' } }, {}],
    [
      'different queries of Gemini, the empty ones not',
      'gemini',
      {
        candidates: [
          { groundingMetadata: { webSearchQueries: ['a', '', 'b', 'a'] } },
          { content: { parts: [{ executableCode: { code: '1' } }] } },
        ],
        usageMetadata: { trafficType: 'ON_DEMAND_PRIORITY' },
      },
      { seen: { web_search: 2, code_execution: 1 }, fields: { service_tier: 'priority' } },
    ],
  ])('%s', (_what, protocol, body, expected) => {
    expect(told(protocol, 'whole', JSON.stringify(body))).toEqual({ ...NOTHING, ...expected })
  })

  test('answers in an array', () => {
    const pieces = [
      { candidates: [{ groundingMetadata: { webSearchQueries: ['a'] } }] },
      { candidates: [{ groundingMetadata: { webSearchQueries: ['a', 'b'] } }] },
    ]
    expect(told('gemini', 'whole', JSON.stringify(pieces)).seen).toEqual({ web_search: 2 })
  })

  test('searches that are billed as one', () => {
    const body = { candidates: [{ groundingMetadata: { webSearchQueries: ['a', 'b'] } }] }
    expect(told('gemini', 'whole', JSON.stringify(body), { searchesAsOne: true }).seen).toEqual({
      web_search: 1,
    })
  })
})

const stream = (protocol: ProtocolId, ...events: object[]) =>
  framed(
    protocol,
    events.map((event) => JSON.stringify(event)),
    '\n',
  )

describe('the extras of a stream', () => {
  const added = (of: object) => ({ type: 'response.output_item.added', item: of })
  const done = (of: object) => ({ type: 'response.output_item.done', item: of })

  test('a use that has begun, and one that turned out to be no search', () => {
    const search = { type: 'web_search_call', status: 'in_progress' }
    expect(told('responses', 'stream', stream('responses', added(search))).seen).toEqual({
      web_search_call: 1,
    })
    const text = stream(
      'responses',
      added(search),
      done(look('search')),
      added(search),
      done(look('open_page')),
    )
    expect(told('responses', 'stream', text).seen).toEqual({ web_search_call: 1 })
  })

  test('the tier at the end, not the one that was asked for', () => {
    const created = { type: 'response.created', response: { service_tier: 'priority' } }
    const completed = { type: 'response.completed', response: { service_tier: 'default', output: [] } }
    expect(told('responses', 'stream', stream('responses', created)).fields).toEqual({})
    expect(told('responses', 'stream', stream('responses', created, completed)).fields).toEqual({
      service_tier: 'default',
    })
  })

  test('items that only the end repeats', () => {
    const completed = {
      type: 'response.completed',
      response: { output: [look('search'), look('search'), item('message')] },
    }
    expect(told('responses', 'stream', stream('responses', completed)).seen).toEqual({ web_search_call: 2 })
    const all = stream('responses', added(look('search')), done(look('search')), completed)
    expect(told('responses', 'stream', all).seen).toEqual({ web_search_call: 2 })
  })

  test('blocks of a message, and the count at its end', () => {
    const start = {
      type: 'content_block_start',
      content_block: { type: 'server_tool_use', name: 'web_search' },
    }
    const text = { type: 'content_block_start', content_block: { type: 'text', text: '' } }
    const delta = { type: 'message_delta', usage: { server_tool_use: { web_search_requests: 1 } } }
    expect(told('messages', 'stream', stream('messages', start, text, start, delta))).toMatchObject({
      seen: { web_search: 2 },
      counted: { web_search: 1 },
    })
  })

  test('an event that lacks its blank line', () => {
    const text = stream('chat', { service_tier: 'flex' }).trimEnd()
    expect(told('chat', 'stream', text).fields).toEqual({ service_tier: 'flex' })
  })

  test('nothing that is no JSON', () => {
    expect(told('chat', 'stream', 'data: {"service_tier":\n\ndata: [DONE]\n\n')).toEqual(NOTHING)
  })
})

/** Recorded answers: the project's own, and longer ones of real traffic where they lie beside the checkout. */
const OWN = path.resolve(import.meta.dirname, '../../../test/fixtures')
const LONGER = path.resolve(import.meta.dirname, '../../../../../shared/fixtures')

type RecordedRow = readonly [file: string, protocol: ProtocolId, expected: Partial<Told>]

function toldIn(folder: string, file: string, protocol: ProtocolId): Told {
  const text = readFileSync(path.join(folder, file), 'utf8')
  const lines = text.split('\n').filter((line) => line.startsWith('{'))
  return file.endsWith('.json')
    ? told(protocol, 'whole', text)
    : told(protocol, 'stream', framed(protocol, lines))
}

describe('recorded answers', () => {
  test.each<RecordedRow>([
    ['azure/web-search.json', 'responses', { seen: { web_search_call: 1 } }],
    ['azure/web-search.chunks.txt', 'responses', { seen: { web_search_call: 1 } }],
    ['azure/code-interpreter.json', 'responses', { seen: { code_interpreter_call: 1 } }],
    ['azure/code-interpreter.chunks.txt', 'responses', { seen: { code_interpreter_call: 1 } }],
    ['azure/image-generation.json', 'responses', { seen: { image_generation_call: 1 } }],
    ['azure/image-generation.chunks.txt', 'responses', { seen: { image_generation_call: 1 } }],
    ['anthropic/web-fetch.json', 'messages', { seen: { web_fetch: 1 } }],
    [
      'anthropic/web-fetch.chunks.txt',
      'messages',
      {
        seen: { web_fetch: 1 },
        counted: { web_search: 0, web_fetch: 1 },
        fields: { service_tier: 'standard' },
      },
    ],
    [
      'anthropic/code-execution.chunks.txt',
      'messages',
      { seen: { bash_code_execution: 1, text_editor_code_execution: 1 } },
    ],
  ])('%s', (file, protocol, expected) => {
    expect(toldIn(OWN, file, protocol)).toMatchObject(expected)
  })
})

describe.skipIf(!existsSync(LONGER))('longer recorded answers (none beside the checkout: skipped)', () => {
  test.each<RecordedRow>([
    ['azure/azure-web-search-preview-tool.1.json', 'responses', { seen: { web_search_call: 2 } }],
    ['azure/azure-web-search-preview-tool.1.chunks.txt', 'responses', { seen: { web_search_call: 1 } }],
    ['azure/azure-code-interpreter-tool.1.json', 'responses', { seen: { code_interpreter_call: 1 } }],
    ['azure/azure-code-interpreter-tool.1.chunks.txt', 'responses', { seen: { code_interpreter_call: 1 } }],
    ['azure/azure-image-generation-tool.1.json', 'responses', { seen: { image_generation_call: 1 } }],
    ['azure/azure-image-generation-tool.1.chunks.txt', 'responses', { seen: { image_generation_call: 1 } }],
    ['xai/responses/xai-web-search-tool.1.json', 'responses', { seen: { web_search_call: 1 } }],
    ['xai/responses/xai-web-search-tool.1.chunks.txt', 'responses', { seen: { web_search_call: 1 } }],
    [
      'xai/responses/xai-image-generation-tool.1.json',
      'responses',
      { seen: { image_generation_call: 1 }, fields: { service_tier: 'default' } },
    ],
    [
      'anthropic/anthropic-web-fetch-tool.1.json',
      'messages',
      { seen: { web_fetch: 1 }, counted: { web_search: 0, web_fetch: 1 } },
    ],
    [
      'anthropic/anthropic-web-fetch-tool.1.chunks.txt',
      'messages',
      {
        seen: { web_fetch: 1 },
        counted: { web_search: 0, web_fetch: 1 },
        fields: { service_tier: 'standard' },
      },
    ],
    [
      'anthropic/anthropic-code-execution-file-upload.1.chunks.txt',
      'messages',
      { seen: { bash_code_execution: 1, text_editor_code_execution: 2 } },
    ],
  ])('%s', (file, protocol, expected) => {
    expect(toldIn(LONGER, file, protocol)).toMatchObject(expected)
  })
})
