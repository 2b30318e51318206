/** Images and files a client names by address: handed on where the upstream takes addresses, fetched where it does not. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Answer, postJson } from '../gateway/client.ts'
import { type TestGateway, openGateway, putChain, putModel, putVendor } from '../gateway/gateway.ts'
import { answerJson, type ScriptedUpstream } from '../gateway/scripted-upstream.ts'
import { withGateway } from '../gateway/with-gateway.ts'

const PIXEL = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==',
  'base64',
)
const PDF = Buffer.from('%PDF-1.4 tiny')

const ANSWERS: Readonly<Record<string, unknown>> = {
  chat: {
    id: 'c',
    object: 'chat.completion',
    created: 1,
    model: 'up',
    choices: [{ index: 0, message: { role: 'assistant', content: 'ok' }, finish_reason: 'stop' }],
    usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
  },
  responses: {
    id: 'resp_1',
    object: 'response',
    created_at: 1,
    status: 'completed',
    model: 'up',
    output: [
      {
        type: 'message',
        id: 'msg_1',
        role: 'assistant',
        status: 'completed',
        content: [{ type: 'output_text', text: 'ok', annotations: [] }],
      },
    ],
    usage: { input_tokens: 1, output_tokens: 1, total_tokens: 2 },
  },
  messages: {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'up',
    content: [{ type: 'text', text: 'ok' }],
    stop_reason: 'end_turn',
    stop_sequence: null,
    usage: { input_tokens: 1, output_tokens: 1 },
  },
  gemini: {
    candidates: [{ index: 0, content: { role: 'model', parts: [{ text: 'ok' }] }, finishReason: 'STOP' }],
    usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 },
  },
}

const KINDS: Readonly<Record<string, readonly [kind: string, forward: string]>> = {
  chat: ['openai', 'gpt-4.1'],
  responses: ['openai', 'gpt-4.1'],
  messages: ['anthropic', 'claude-opus-4-6'],
  gemini: ['google', 'gemini-2.5-flash'],
}

/** Fetches nothing inside the operator's network. */
let closed: TestGateway

async function furnish(into: TestGateway): Promise<void> {
  for (const [protocol, [kind, forward]] of Object.entries(KINDS)) {
    await into.catalogue(
      ...putVendor(`vendor-${protocol}`, upstream.url, { kind }),
      putModel(`over-${protocol}`),
      putChain({
        model: `over-${protocol}`,
        vendor: `vendor-${protocol}`,
        protocol: protocol as 'chat',
        forward,
      }),
    )
  }
}

const { gateway, upstream, web } = await withGateway({
  upstreams: ['upstream', 'web'],
  environment: {
    SLUICE_FETCH_ALLOW: '127.0.0.1/32',
    SLUICE_BODY_LIMIT_BYTES: '65536',
    SLUICE_BYTES_IN_FLIGHT_LIMIT: '262144',
  },
})

beforeAll(async () => {
  closed = await openGateway()
  await furnish(gateway)
  await furnish(closed)
  upstream.answer((request, response) => {
    const protocol = request.path.includes('generateContent')
      ? 'gemini'
      : request.path.endsWith('/messages')
        ? 'messages'
        : request.path.endsWith('/responses')
          ? 'responses'
          : 'chat'
    return answerJson(ANSWERS[protocol])(request, response)
  })
  web.answer((request, response) => {
    const found = SITE[request.path]
    if (found === undefined) return answerJson({}, 404)(request, response)
    return found(request.path, response)
  })
})

afterAll(async () => {
  await closed.close()
})

type Page = (path: string, response: Parameters<Parameters<ScriptedUpstream['answer']>[0]>[1]) => void

function serve(mediaType: string, body: Buffer | string, status = 200): Page {
  return (_path, response) => {
    response.writeHead(status, { 'content-type': mediaType })
    response.end(body)
  }
}

const SITE: Readonly<Record<string, Page>> = {
  '/pixel.png': serve('image/png', PIXEL),
  '/mislabelled.jpg': serve('image/jpeg', PIXEL),
  '/bytes': serve('application/octet-stream', PIXEL),
  '/page.html': serve('text/html', '<html></html>'),
  '/nothing.png': serve('image/png', ''),
  '/notes.txt': serve('text/plain; charset=utf-8', 'the notes'),
  '/paper.pdf': serve('application/pdf', PDF),
  '/large.png': serve('image/png', Buffer.concat([PIXEL, Buffer.alloc(300_000)])),
  '/huge.png': (_path, response) => {
    response.writeHead(200, { 'content-type': 'image/png', 'content-length': String(30 * 1024 * 1024) })
    response.flushHeaders()
  },
  '/moved.png': (_path, response) => {
    response.writeHead(302, { location: '/pixel.png' })
    response.end()
  },
  '/metadata.png': (_path, response) => {
    response.writeHead(302, { location: 'http://169.254.169.254/latest/meta-data/' })
    response.end()
  },
}

function lastBody(): unknown {
  return upstream.requests.at(-1)?.json()
}

async function chatWithImages(from: TestGateway, model: string, urls: readonly string[]): Promise<Answer> {
  const content = [
    { type: 'text', text: 'what is this?' },
    ...urls.map((url) => ({ type: 'image_url', image_url: { url } })),
  ]
  return postJson(
    `${from.baseUrl}/v1/chat/completions`,
    { model, messages: [{ role: 'user', content }] },
    { authorization: `Bearer ${from.key}` },
  )
}

describe('an image_url with a web address', () => {
  const url = (): string => `${web.url}/pixel.png`
  test.each([
    ['chat', () => ({ type: 'image_url', image_url: { url: url() } }), 0],
    ['responses', () => ({ type: 'input_image', image_url: url() }), 0],
    ['messages', () => ({ type: 'image', source: { type: 'url', url: url() } }), 0],
    ['gemini', () => ({ inlineData: { mimeType: 'image/png', data: PIXEL.toString('base64') } }), 1],
  ] as const)('reaches a %s upstream in its form [4.1-32]', async (protocol, expected, fetches) => {
    const before = web.requests.length
    const answer = await chatWithImages(gateway, `over-${protocol}`, [url()])
    expect(answer.status).toBe(200)
    expect(JSON.stringify(lastBody())).toContain(JSON.stringify(expected()).slice(1, -1))
    expect(web.requests.length - before).toBe(fetches)
  })

  test.each([
    ['/moved.png', 'a redirect is followed'],
    ['/mislabelled.jpg', 'the bytes say what it is, not the header'],
    ['/bytes', 'a header that says nothing is no obstacle'],
  ])('%s: %s', async (path) => {
    const answer = await chatWithImages(gateway, 'over-gemini', [web.url + path])
    expect(answer.status).toBe(200)
    expect(JSON.stringify(lastBody())).toContain('"mimeType":"image/png"')
  })

  test.each([
    ['/missing.png', 'status 404'],
    ['/page.html', 'text/html'],
    ['/nothing.png', 'returned nothing'],
    ['/huge.png', 'more than 20971520 bytes'],
    ['/metadata.png', 'not open to client-chosen URLs'],
  ])('%s is refused with the address and the reason (%s)', async (path, reason) => {
    const sent = upstream.requests.length
    const answer = await chatWithImages(gateway, 'over-gemini', [web.url + path])
    expect(answer.status).toBe(400)
    expect(answer.body.error).toMatchObject({ code: '40000', type: 'gateway_error' })
    expect(answer.body.error?.message).toContain(web.url + path)
    expect(answer.body.error?.message).toContain(reason)
    expect(upstream.requests.length).toBe(sent)
  })

  test('a private address is refused where the operator did not open it', async () => {
    const before = web.requests.length
    const answer = await chatWithImages(closed, 'over-gemini', [url()])
    expect([answer.status, answer.body.error?.code]).toEqual([400, '40000'])
    expect(web.requests.length).toBe(before)
  })

  test('bytes past the budget of the process are refused for now, and given back', async () => {
    const answer = await chatWithImages(gateway, 'over-gemini', [`${web.url}/large.png`])
    expect([answer.status, answer.body.error?.code]).toEqual([503, '50301'])
    expect(answer.headers.get('retry-after')).not.toBeNull()
    await gateway.settled()
    expect(gateway.running.pipeline.bodyBudget.used).toBe(0)
  })
})

test('many addresses are fetched side by side, a few at a time and each once', async () => {
  let open = 0
  let most = 0
  let openGate = (): void => undefined
  const gate = new Promise<void>((resolve) => {
    openGate = resolve
  })
  const paths = Array.from({ length: 20 }, (_, index) => `/many/${index % 10}.png`)
  web.script(
    ...Array.from({ length: 10 }, () => async (_request: unknown, response: Parameters<Page>[1]) => {
      open += 1
      most = Math.max(most, open)
      if (open === 6) openGate()
      await gate
      open -= 1
      serve('image/png', PIXEL)('', response)
    }),
  )
  const before = web.requests.length
  const answer = await chatWithImages(
    gateway,
    'over-gemini',
    paths.map((path) => web.url + path),
  )
  expect(answer.status).toBe(200)
  expect(most).toBe(6)
  expect(web.requests.length - before).toBe(10)
})

describe('files', () => {
  async function withFile(model: string, path: string): Promise<unknown> {
    const answer = await postJson(
      `${gateway.baseUrl}/v1/responses`,
      {
        model,
        input: [
          { role: 'user', content: [{ type: 'input_file', filename: 'it', file_url: web.url + path }] },
        ],
      },
      { authorization: `Bearer ${gateway.key}` },
    )
    expect(answer.status).toBe(200)
    return lastBody()
  }

  test('a PDF becomes what the upstream takes', async () => {
    const data = PDF.toString('base64')
    expect(JSON.stringify(await withFile('over-chat', '/paper.pdf'))).toContain(
      `"file_data":"data:application/pdf;base64,${data}"`,
    )
    expect(JSON.stringify(await withFile('over-gemini', '/paper.pdf'))).toContain(
      `"inlineData":{"mimeType":"application/pdf","data":"${data}"}`,
    )
    expect(JSON.stringify(await withFile('over-messages', '/paper.pdf'))).toContain(
      `"source":{"type":"url","url":"${web.url}/paper.pdf"}`,
    )
  })

  test('a text becomes text', async () => {
    expect(JSON.stringify(await withFile('over-chat', '/notes.txt'))).toContain('the notes')
    expect(JSON.stringify(await withFile('over-gemini', '/notes.txt'))).toContain('the notes')
  })
})

test('an image in a tool result is fetched as well', async () => {
  const answer = await postJson(
    `${gateway.baseUrl}/v1/messages`,
    {
      model: 'over-gemini',
      max_tokens: 10,
      messages: [
        { role: 'user', content: 'look' },
        { role: 'assistant', content: [{ type: 'tool_use', id: 't1', name: 'shot', input: {} }] },
        {
          role: 'user',
          content: [
            {
              type: 'tool_result',
              tool_use_id: 't1',
              content: [{ type: 'image', source: { type: 'url', url: `${web.url}/pixel.png` } }],
            },
          ],
        },
      ],
    },
    { authorization: `Bearer ${gateway.key}` },
  )
  expect(answer.status).toBe(200)
  expect(JSON.stringify(lastBody())).toContain(PIXEL.toString('base64'))
})
