/** Every way to model output besides making a call: what somebody who wants it for nothing tries, and gets. */
import { beforeEach, describe, expect, test } from 'vitest'
import { ANSWER, playBackground } from '../gateway/background.ts'
import { type Answer, get, postJson, sendRaw } from '../gateway/client.ts'
import { putChain, putModel, putVendor } from '../gateway/gateway.ts'
import { answerJson, answerStream } from '../gateway/scripted-upstream.ts'
import { withGateway } from '../gateway/with-gateway.ts'

const { gateway, upstream } = await withGateway({
  upstreams: ['upstream'],
  catalogue: ({ upstream }) => [
    ...putVendor('acme', upstream.url, { kind: 'openai' }),
    putModel('native'),
    putChain({ model: 'native', vendor: 'acme', protocol: 'responses', forward: 'gpt-4.1' }),
    putModel('plain'),
    putChain({ model: 'plain', vendor: 'acme' }),
  ],
})

beforeEach(() => {
  playBackground(upstream)
  upstream.requests.length = 0
})

const bearer = () => ({ authorization: `Bearer ${gateway.key}` })

function create(body: object): Promise<Answer> {
  return postJson(`${gateway.baseUrl}/v1/responses`, { model: 'native', input: 'x', ...body }, bearer())
}

function read(id: string): Promise<Answer> {
  return get(`${gateway.baseUrl}/v1/responses/${id}`, bearer())
}

const created = (id: string) => ({
  id,
  object: 'response',
  status: 'in_progress',
  model: 'up',
  output: [],
  usage: null,
})

/** The upstream keeps the whole answer under the id; who asks for it there gets it. */
function keepUpstream(id: string): void {
  upstream.answer((request, response) => {
    const whole = {
      ...created(id),
      status: 'completed',
      output: [{ type: 'message', content: [{ type: 'output_text', text: ANSWER }] }],
    }
    return answerJson(whole)(request, response)
  })
}

/** Neither read nor continued, and the upstream is not even asked. */
async function expectNothing(id: string): Promise<void> {
  await gateway.settled()
  keepUpstream(id)
  upstream.requests.length = 0
  expect((await read(id)).status).toBe(404)
  expect((await create({ previous_response_id: id })).status).toBe(400)
  expect(upstream.requests).toHaveLength(0)
}

describe('a client that leaves its call and asks for the answer later', () => {
  test('after the id came in the first event of a stream', async () => {
    const id = 'resp_stream_left'
    upstream.script((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write(
        `event: response.created\ndata: ${JSON.stringify({ type: 'response.created', response: created(id), sequence_number: 0 })}\n\n`,
      )
      response.write(
        `event: response.output_text.delta\ndata: ${JSON.stringify({ type: 'response.output_text.delta', item_id: 'm', output_index: 0, content_index: 0, delta: 'a', sequence_number: 1 })}\n\n`,
      )
    })
    const controller = new AbortController()
    const left = await fetch(`${gateway.baseUrl}/v1/responses`, {
      method: 'POST',
      signal: controller.signal,
      headers: { ...bearer(), 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'native', input: 'x', stream: true }),
    })
    await left.body?.getReader().read()
    controller.abort()
    await expectNothing(id)
  })

  test('before the whole answer came', async () => {
    const id = 'resp_whole_left'
    const controller = new AbortController()
    upstream.script((_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json' })
      response.write(`{"id":"${id}","object":"response",`)
      controller.abort()
    })
    const left = fetch(`${gateway.baseUrl}/v1/responses`, {
      method: 'POST',
      signal: controller.signal,
      headers: { ...bearer(), 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'native', input: 'x' }),
    })
    await expect(left).rejects.toThrow()
    await expectNothing(id)
  })
})

describe('an answer that is streamed without a request for a stream', () => {
  const chunk = (rest: object) =>
    `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', ...rest })}\n\n`
  const text = (content: string) =>
    chunk({ choices: [{ index: 0, delta: { content }, finish_reason: null }] })
  const END = chunk({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] })

  const ask = () =>
    postJson(
      `${gateway.baseUrl}/v1/chat/completions`,
      { model: 'plain', messages: [{ role: 'user', content: 'x' }] },
      bearer(),
    )

  test('is passed on and charged by its usage, however long it is', async () => {
    const usage = { prompt_tokens: 10, completion_tokens: 700 }
    const pieces = Array.from({ length: 40 }, () => text('word '.repeat(8_000)))
    upstream.script(answerStream([...pieces, END, chunk({ choices: [], usage }), 'data: [DONE]\n\n']))
    const answer = await ask()
    expect(answer.status).toBe(200)
    expect(answer.text).toMatch(/data: \[DONE\]\n\n$/)
    const row = await gateway.lastLog()
    expect(row).toMatchObject({
      ending: 'complete',
      usageSource: 'upstream',
      usage: { input: 10, output: 700 },
    })
    expect(row.deducted).toBeGreaterThan(0n)
  })

  test('is charged by what was visible where it tells no usage', async () => {
    upstream.script(answerStream([text('word '.repeat(5_000)), END, 'data: [DONE]\n\n']))
    expect((await ask()).status).toBe(200)
    const { usage } = await gateway.lastLog()
    expect(usage?.output).toBeGreaterThan(4_000)
  })
})

describe('an upstream that goes on after the call has ended', () => {
  test('answers an ordinary call with a queued response: it cannot be read later', async () => {
    upstream.script(answerJson({ ...created('resp_queued'), status: 'queued' }))
    const answer = await create({})
    expect(answer.body['status']).toBe('queued')
    await expectNothing('resp_queued')
  })

  test.each([
    ['says by then that it runs in the background', { background: true, status: 'completed' }],
    ['says that it is not finished', { status: 'in_progress' }],
  ])('charged in full, and %s: 409', async (_what, more) => {
    const { body } = await create({ background: false })
    const id = String(body['id'])
    keepUpstream(id)
    upstream.script(answerJson({ ...created(id), ...more, output: [ANSWER] }))
    const answer = await read(id)
    expect(answer.status).toBe(409)
    expect(answer.text).not.toContain(ANSWER)
  })

  test('tells no usage: what it keeps may be more than what was charged', async () => {
    upstream.script(answerJson({ ...created('resp_no_usage'), status: 'completed', output: [] }))
    expect((await create({})).status).toBe(200)
    await expectNothing('resp_no_usage')
  })
})

describe('somebody who guesses', () => {
  test.each([
    ['an id that was never made through this gateway', '/v1/responses/resp_of_the_operator'],
    ['an id with a path in it', '/v1/responses/resp_1%2F..%2Fresp_2'],
    ['an id that is a path upwards', '/v1/responses/%2e%2e%2ffiles'],
    ['the name under which an answer waits for its charge', `/v1/responses/answer%20${'0'.repeat(36)}`],
    ['conversations of the upstream account', '/v1/conversations/conv_1'],
    ['items of a conversation', '/v1/conversations/conv_1/items'],
    ['chat completions that were stored', '/v1/chat/completions/chatcmpl_1'],
    ['deferred chat completions', '/v1/chat/deferred-completion/1'],
    ['batches', '/v1/batches/batch_1'],
    ['files made by a tool', '/v1/files/file_1/content'],
    ['files of a container', '/v1/containers/c/files/f/content'],
    ['message batches', '/v1/messages/batches/b/results'],
    ['a video of nobody', '/v1/videos/video_1/content'],
  ])('%s: 404 or 405, and no upstream is asked', async (_what, path) => {
    const answer = await get(`${gateway.baseUrl}${path}`, bearer())
    expect([404, 405]).toContain(answer.status)
    expect(upstream.requests).toHaveLength(0)
  })

  test.each([
    ['compaction', '/v1/responses/compact'],
    ['a conversation', '/v1/conversations'],
    ['a remix of a video', '/v1/videos/video_1/remix'],
    ['a batch', '/v1/batches'],
    ['a legacy completion', '/v1/completions'],
    ['a cancellation of nothing', '/v1/responses/resp_1/cancel'],
  ])('makes %s: 404 or 405, and no upstream is asked', async (_what, path) => {
    const answer = await postJson(`${gateway.baseUrl}${path}`, { model: 'native', input: 'x' }, bearer())
    expect([404, 405]).toContain(answer.status)
    expect(upstream.requests).toHaveLength(0)
  })

  test('asks for the count of tokens, with everything that would make it an answer: only a count is asked for', async () => {
    upstream.answer(answerJson({ object: 'response.input_tokens', input_tokens: 3 }))
    const answer = await postJson(
      `${gateway.baseUrl}/v1/responses/input_tokens`,
      { model: 'native', input: 'x', stream: true, background: true },
      bearer(),
    )
    expect(answer.status).toBe(200)
    expect(upstream.requests.map(({ path }) => path)).toEqual(['/responses/input_tokens'])
  })

  test('deletes a response that is not theirs: 404', async () => {
    const answer = await sendRaw(`${gateway.baseUrl}/v1/responses/resp_1`, {
      method: 'DELETE',
      headers: bearer(),
    })
    expect(answer.status).toBe(404)
    expect(upstream.requests).toHaveLength(0)
  })
})
