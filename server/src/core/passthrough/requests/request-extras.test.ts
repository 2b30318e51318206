import { describe, expect, test } from 'vitest'
import type { ProtocolId } from '../../catalogue.ts'
import { ROUNDS_OF_TOOLS } from '../../metering/possible-usage.ts'
import { NO_EXTRAS, type RequestExtras } from './request-extras.ts'
import { createRequestScanner } from './request-scan.ts'
import type { ScannedRequest } from './scanned-request.ts'

function scan(protocol: ProtocolId, body: string): ScannedRequest {
  const scanner = createRequestScanner(protocol)
  scanner.push(Buffer.from(`{"model":"m",${body}}`))
  const scanned = scanner.end()
  if (scanned.kind === 'refused') throw new Error(scanned.message)
  return scanned
}

describe('what a request asks for besides words', () => {
  test.each<readonly [what: string, protocol: ProtocolId, body: string, extras: Partial<RequestExtras>]>([
    ['nothing', 'chat', '"messages":[{"role":"user","content":[{"type":"text","text":"hi"}]}]', {}],
    ['the client’s own functions', 'chat', '"tools":[{"type":"function"},{"type":"custom"}]', {}],
    [
      'the client’s own tools of a vendor’s making',
      'messages',
      '"tools":[{"type":"bash_20250124"},{"name":"f"},{"type":"text_editor_20250728"}]',
      {},
    ],
    [
      'a search of the client’s own tools',
      'messages',
      '"tools":[{"type":"tool_search_tool_bm25_20251119"},{"type":"tool_search"}]',
      {},
    ],
    ['functions of Gemini', 'gemini', '"tools":[{"functionDeclarations":[]}]', {}],
    [
      'a field that costs extra with its value',
      'chat',
      '"service_tier":"priority"',
      { extraCostFields: ['service_tier.priority'] },
    ],
    [
      'a field that costs extra in capitals',
      'responses',
      '"service_tier":"PRIORITY"',
      { extraCostFields: ['service_tier.priority'] },
    ],
    [
      'each of two values under one name',
      'chat',
      '"service_tier":"priority","service_tier":"auto"',
      { extraCostFields: ['service_tier.priority', 'service_tier.auto'] },
    ],
    ['a value with an escape', 'messages', '"speed":"f\\u0061st"', { extraCostFields: ['speed.fast'] }],
    [
      'a field that costs extra that is no text',
      'chat',
      '"service_tier":["priority"]',
      { extraCostFields: ['service_tier'] },
    ],
    ['a field that costs extra that is off', 'chat', '"service_tier":null,"web_search_options":false', {}],
    ['a place', 'messages', '"inference_geo":"us"', { extraCostFields: ['inference_geo.us'] }],
    ['web search of chat', 'chat', '"web_search_options":{}', { hostedTools: ['web_search_options'] }],
    [
      'tools at the vendor, whatever their version',
      'responses',
      '"tools":[{"type":"web_search_preview_2025_03_11"},{"type":"web_search"},{"type":"code_interpreter"}]',
      { hostedTools: ['web_search', 'code_interpreter'] },
    ],
    [
      'tools at the vendor',
      'messages',
      '"tools":[{"type":"web_search_20250305","name":"web_search"}]',
      { hostedTools: ['web_search'] },
    ],
    [
      'tools of Gemini in either spelling',
      'gemini',
      '"tools":[{"googleSearch":{}},{"google_search":{}}]',
      { hostedTools: ['google_search'] },
    ],
    ['a tool nobody knows', 'responses', '"tools":[{"type":"brand_new"}]', { hostedTools: ['brand_new'] }],
    ['a kept conversation', 'responses', '"conversation":"conv_1"', { unseenInput: true }],
    ['a prompt kept at the vendor', 'responses', '"prompt":{"id":"p"}', { unseenInput: true }],
    [
      'a file',
      'responses',
      '"input":[{"role":"user","content":[{"type":"input_file","file_id":"f"}]}]',
      { unseenInput: true },
    ],
    [
      'a file written into the body',
      'chat',
      '"messages":[{"content":[{"type":"file","file":{"file_data":"data:application/pdf;base64,AA"}}]}]',
      { unseenInput: true },
    ],
    [
      'a document',
      'messages',
      '"messages":[{"content":[{"type":"document","source":{"type":"base64","data":"AA"}}]}]',
      { unseenInput: true },
    ],
    [
      'a document inside a tool’s result',
      'messages',
      '"messages":[{"content":[{"type":"tool_result","content":[{"type":"document"}]}]}]',
      { unseenInput: true },
    ],
    [
      'a video by its address',
      'chat',
      '"messages":[{"content":[{"type":"video_url","video_url":{"url":"https://x"}}]}]',
      { unseenInput: true },
    ],
    [
      'a cache and a file of Gemini',
      'gemini',
      '"cachedContent":"c","contents":[{"parts":[{"fileData":{"fileUri":"u"}}]}]',
      { unseenInput: true },
    ],
    [
      'pages written into a body of Gemini',
      'gemini',
      '"contents":[{"parts":[{"inlineData":{"mimeType":"application/pdf","data":"AA"}}]}]',
      { unseenInput: true },
    ],
    [
      'a picture',
      'gemini',
      '"contents":[{"parts":[{"inlineData":{"mimeType":"image/png","data":"AA"}}]}]',
      {},
    ],
  ])('%s', (_what, protocol, body, extras) => {
    const toolUsesMax = extras.hostedTools === undefined ? 0 : ROUNDS_OF_TOOLS
    expect(scan(protocol, body).extras).toEqual({ ...NO_EXTRAS, toolUsesMax, ...extras })
  })

  test.each([
    ['chat', '"messages":[{"content":[{"image_url":{"url":"https://x/y.png"}}]}]'],
    ['responses', '"input":[{"content":[{"type":"input_image","image_url":"https://x"}]}]'],
    ['responses', '"input":[{"content":[{"type":"input_image","file_id":"f"}]}]'],
    ['messages', '"messages":[{"content":[{"type":"image","source":{"type":"url","url":"https://x"}}]}]'],
  ] as const)('a picture of %s that is not in the body counts as one', (protocol, body) => {
    const { mediaCount, extras } = scan(protocol, body)
    expect([mediaCount, extras]).toEqual([1, NO_EXTRAS])
  })
})

describe('how many answers are asked for', () => {
  test.each([
    ['"n":3', 3],
    ['"n":"60"', 60],
    ['"n":60,"n":1', 60],
    ['"n":1,"n":60', 60],
    ['"n":"many"', undefined],
    ['"n":0', undefined],
    ['"n":2.0', 2],
  ])('%s', (body, candidates) => {
    expect(scan('chat', body).candidates).toBe(candidates)
  })
})

describe('how often tools at the vendor may be used', () => {
  test.each<readonly [body: string, uses: number]>([
    ['"tools":[{"name":"f"}]', 0],
    ['"tools":[{"name":"f","max_uses":3}]', 0],
    ['"tools":[{"type":"web_search_20250305"}]', 10],
    ['"tools":[{"type":"web_search_20250305","max_uses":3}]', 3],
    ['"tools":[{"max_uses":25,"type":"web_search_20250305"},{"name":"f"}]', 25],
    ['"tools":[{"type":"web_search","max_uses":3},{"type":"web_fetch"}]', 10],
    ['"tools":[{"type":"web_search","max_uses":3},{"type":"web_fetch","max_uses":4}]', 4],
    ['"tools":[{"type":"web_search","max_uses":1,"max_uses":30}]', 30],
    ['"tools":[{"type":"web_search","max_uses":30,"max_uses":1}]', 30],
    ['"tools":[{"type":"web_search","max_uses":1}],"tools":[{"type":"web_search","max_uses":7}]', 7],
    ['"tools":[{"type":"web_search","max_uses":null}]', 10],
    ['"tools":[{"type":"web_search","max_uses":"4"}]', 4],
    ['"tools":[{"type":"web_search","max_uses":1e12}]', 1_000],
  ])('messages %s', (body, uses) => {
    expect(scan('messages', body).extras.toolUsesMax).toBe(uses)
  })

  test.each<readonly [body: string, uses: number]>([
    ['"max_tool_calls":2,"tools":[{"type":"web_search"}]', 2],
    ['"tools":[{"type":"web_search"}],"max_tool_calls":2,"max_tool_calls":6', 6],
    ['"tools":[{"type":"web_search"}],"max_tool_calls":2,"max_tool_calls":null', 10],
    ['"tools":[{"type":"web_search"}],"max_tool_calls":50', 50],
    ['"tools":[{"type":"function"}],"max_tool_calls":2', 0],
  ])('responses %s', (body, uses) => {
    expect(scan('responses', body).extras.toolUsesMax).toBe(uses)
  })
})
