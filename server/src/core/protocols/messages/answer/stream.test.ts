import { describe, expect, test } from 'vitest'
import { foldStream } from '../../../canonical/fold.ts'
import { openSignature, sealSignature } from '../../../canonical/envelope.ts'
import { parseJson } from '../../../canonical/json-text.ts'
import type { BlockStart, Finish, StreamPart } from '../../../canonical/response.ts'
import { NO_USAGE } from '../../../canonical/usage.ts'
import type { JsonObject } from '../../../json.ts'
import {
  decodeStream,
  encodeStream,
  expectLawfulStream,
  PLAIN_REQUEST,
  replyContext,
  sseEvents,
} from '../../testing/laws.ts'
import { accumulateMessage } from '../../testing/official-clients.ts'
import { objectOf, textOf } from '../../read-json.ts'
import { messagesProtocol } from '../index.ts'

const finish = (reason: Finish['reason'], more: Partial<Finish> = {}): StreamPart => ({
  type: 'finish',
  candidate: 0,
  finish: { reason, raw: undefined, stopSequence: undefined, explanation: undefined, ...more },
})
const start: StreamPart = { type: 'start', id: 'x', createdAt: undefined }
const end: StreamPart = { type: 'end' }
const open = (block: number, kind: BlockStart, candidate = 0): StreamPart => ({
  type: 'block-start',
  block,
  candidate,
  kind,
})
const text: BlockStart = { type: 'text' }
const thought: BlockStart = { type: 'reasoning', kind: 'summary' }
const call = (id: string): BlockStart => ({
  type: 'tool-call',
  id,
  name: `tool_${id}`,
  namespace: undefined,
  kind: 'function',
})
const say = (block: number, said: string): StreamPart => ({ type: 'text-delta', block, text: said })
const write = (block: number, json: string): StreamPart => ({ type: 'arguments-delta', block, text: json })
const close = (block: number): StreamPart => ({ type: 'block-end', block })

function eventsOf(parts: readonly StreamPart[], request = PLAIN_REQUEST): readonly JsonObject[] {
  const sse = sseEvents(encodeStream(messagesProtocol, parts, request))
  for (const { event, data } of sse) expect(objectOf(parseJson(data))?.type).toBe(event)
  return sse.map(({ data }) => objectOf(parseJson(data)) ?? {})
}

const types = (events: readonly JsonObject[]) => events.map(({ type }) => type)
const ofType = (events: readonly JsonObject[], type: string) => events.filter((event) => event.type === type)

describe('a stream for a messages client', () => {
  test('has the order the client needs and ends with message_stop, never with [DONE] [4.3-11] [6.3-01]', () => {
    const parts = [start, open(0, text), say(0, 'Hi'), close(0), finish('stop'), end]
    const sse = encodeStream(messagesProtocol, parts)
    expect(types(eventsOf(parts))).toEqual([
      'message_start',
      'content_block_start',
      'content_block_delta',
      'content_block_stop',
      'message_delta',
      'message_stop',
    ])
    expect(sse).not.toContain('[DONE]')
  })

  test('the official client accumulates text, thoughts, calls and usage [6.3-02]', async () => {
    const message = await accumulateMessage(
      encodeStream(messagesProtocol, [
        start,
        open(0, thought),
        say(0, 'hm'),
        { type: 'signature', block: 0, signature: { issuer: undefined, id: undefined, data: 'sig' } },
        close(0),
        open(1, text),
        say(1, 'Let me '),
        say(1, 'look.'),
        close(1),
        open(2, call('a')),
        write(2, '{"x":'),
        write(2, '1}'),
        close(2),
        { type: 'usage', usage: { ...NO_USAGE, input: 5, cachedInput: 7, output: 9, reasoning: 2 } },
        finish('tool-calls'),
        end,
      ]),
    )
    expect(message).toMatchObject({
      id: 'msg_0198f0aa11',
      model: 'platform-model',
      stop_reason: 'tool_use',
      content: [
        { type: 'thinking', thinking: 'hm', signature: expect.stringMatching(/./) },
        { type: 'text', text: 'Let me look.' },
        { type: 'tool_use', id: 'a', name: 'tool_a', input: { x: 1 } },
      ],
      usage: {
        input_tokens: 5,
        cache_read_input_tokens: 7,
        output_tokens: 9,
        output_tokens_details: { thinking_tokens: 2 },
      },
    })
  })

  test('the start has an estimate of the input, the end the exact value (docs/protocols.md#trap-24)', () => {
    const parts: readonly StreamPart[] = [
      start,
      open(0, text),
      say(0, 'Hi'),
      close(0),
      { type: 'usage', usage: { ...NO_USAGE, input: 40, output: 2 } },
      finish('stop'),
      end,
    ]
    const [first] = eventsOf(parts)
    expect(objectOf(objectOf(first?.message)?.usage)?.input_tokens).toBe(7)
    expect(ofType(eventsOf(parts), 'message_delta')[0]?.usage).toMatchObject({
      input_tokens: 40,
      output_tokens: 2,
    })
  })

  test('usage is sent in full even where the upstream sent none: the client fails without it', () => {
    const parts = [start, open(0, text), say(0, 'a'.repeat(40)), close(0), finish('stop'), end]
    expect(ofType(eventsOf(parts), 'message_delta')[0]?.usage).toEqual({
      input_tokens: 7,
      cache_creation_input_tokens: 0,
      cache_read_input_tokens: 0,
      cache_creation: { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 0 },
      output_tokens: 10,
    })
  })

  test('calls that are written at the same time come one after the other, complete (docs/protocols.md#trap-3)', async () => {
    const message = await accumulateMessage(
      encodeStream(messagesProtocol, [
        start,
        open(0, call('a')),
        open(1, call('b')),
        write(1, '{"b":'),
        write(0, '{"a":'),
        write(1, '2}'),
        close(1),
        write(0, '1}'),
        close(0),
        finish('tool-calls'),
        end,
      ]),
    )
    expect(message.content).toMatchObject([
      { type: 'tool_use', id: 'a', input: { a: 1 } },
      { type: 'tool_use', id: 'b', input: { b: 2 } },
    ])
  })

  test('indices are contiguous and every block stops once, also when some say nothing (docs/protocols.md#trap-5)', () => {
    const events = eventsOf([
      start,
      open(0, text),
      say(0, ' \n'),
      close(0),
      open(1, { type: 'media', mediaType: 'image/png', data: 'AA' }),
      close(1),
      open(2, thought),
      close(2),
      open(3, text),
      say(3, 'Hi'),
      close(3),
      open(4, text, 1),
      say(4, 'another candidate'),
      close(4),
      open(5, call('a')),
      close(5),
      finish('tool-calls'),
      end,
    ])
    expect(ofType(events, 'content_block_start').map(({ index }) => index)).toEqual([0, 1])
    expect(ofType(events, 'content_block_stop').map(({ index }) => index)).toEqual([0, 1])
  })

  test('blanks between calls are not sent, blanks before a text are (docs/protocols.md#trap-6)', () => {
    const events = eventsOf([start, open(0, text), say(0, '\n'), say(0, 'Hi'), close(0), finish('stop'), end])
    expect(objectOf(ofType(events, 'content_block_delta')[0]?.delta)?.text).toBe('\nHi')
  })

  test('a second run of thoughts is a second block (docs/protocols.md#trap-7)', () => {
    const events = eventsOf([
      start,
      open(0, thought),
      say(0, 'first'),
      close(0),
      open(1, text),
      say(1, 'said'),
      close(1),
      open(2, thought),
      say(2, 'second'),
      close(2),
      finish('stop'),
      end,
    ])
    expect(ofType(events, 'content_block_start').map((event) => objectOf(event.content_block)?.type)).toEqual(
      ['thinking', 'text', 'thinking'],
    )
  })

  test('a call is not over because its arguments could be (docs/protocols.md#trap-10)', () => {
    const events = eventsOf([
      start,
      open(0, call('a')),
      write(0, '{}'),
      write(0, ' '),
      close(0),
      finish('tool-calls'),
      end,
    ])
    expect(types(events).slice(1, -2)).toEqual([
      'content_block_start',
      'content_block_delta',
      'content_block_delta',
      'content_block_stop',
    ])
  })

  test('a call without arguments is sent without a delta, which means an empty object (docs/protocols.md#trap-9)', async () => {
    const parts = [start, open(0, call('a')), write(0, ''), close(0), finish('tool-calls'), end]
    expect(ofType(eventsOf(parts), 'content_block_delta')).toEqual([])
    expect((await accumulateMessage(encodeStream(messagesProtocol, parts))).content).toMatchObject([
      { input: {} },
    ])
  })

  test('a refusal and a filtered answer are sent as refusal, with their explanation (docs/protocols.md#trap-19)', () => {
    const parts = [start, finish('content-filter', { explanation: 'not that' }), end]
    expect(ofType(eventsOf(parts), 'message_delta')[0]?.delta).toEqual({
      stop_reason: 'refusal',
      stop_sequence: null,
      stop_details: { type: 'refusal', category: null, explanation: 'not that' },
    })
    expect(types(eventsOf(parts))).toEqual(['message_start', 'message_delta', 'message_stop'])
  })

  test.each<[Finish['reason'], string]>([
    ['stop', 'end_turn'],
    ['stop-sequence', 'stop_sequence'],
    ['length', 'max_tokens'],
    ['tool-calls', 'tool_use'],
    ['context-window', 'model_context_window_exceeded'],
    ['other', 'end_turn'],
  ])('%s is told as %s', (reason, told) => {
    expect(ofType(eventsOf([start, finish(reason), end]), 'message_delta')[0]?.delta).toMatchObject({
      stop_reason: told,
    })
  })

  test('the stop sequence that was hit is named (docs/protocols.md#trap-36)', () => {
    const [event] = ofType(
      eventsOf([start, finish('stop-sequence', { stopSequence: 'END' }), end]),
      'message_delta',
    )
    expect(event?.delta).toMatchObject({ stop_sequence: 'END' })
  })

  test('a signature is sent once, just before its block stops (docs/protocols.md#trap-20)', () => {
    const signature = { issuer: undefined, id: 'rs_1', data: 'blob' }
    const events = eventsOf([
      start,
      open(0, thought),
      { type: 'signature', block: 0, signature: { ...signature, data: 'early' } },
      say(0, 'hm'),
      { type: 'signature', block: 0, signature },
      close(0),
      finish('stop'),
      end,
    ])
    const deltas = ofType(events, 'content_block_delta').map(({ delta }) => objectOf(delta))
    expect(deltas.map((delta) => delta?.type)).toEqual(['thinking_delta', 'signature_delta'])
    expect(openSignature(textOf(deltas[1]?.signature) ?? '').signature).toEqual({
      issuer: 'law.issuer',
      id: 'rs_1',
      data: 'blob',
    })
  })

  test('what a call must be replayed with survives a client that has no place for it (docs/protocols.md#trap-22)', () => {
    const signed: readonly StreamPart[] = [
      start,
      open(0, call('a')),
      { type: 'signature', block: 0, signature: { issuer: 'google', id: undefined, data: 'thought' } },
      write(0, '{}'),
      close(0),
      finish('tool-calls'),
      end,
    ]
    const content = ofType(eventsOf(signed), 'content_block_start').map(
      (event) => objectOf(event.content_block) ?? {},
    )
    expect(content.map(({ type }) => type)).toEqual(['redacted_thinking', 'tool_use'])
    const decoded = messagesProtocol.decodeRequest({
      messages: [
        { role: 'user', content: 'x' },
        { role: 'assistant', content },
      ],
    })
    expect(decoded.kind === 'decoded' ? decoded.value.turns[1]?.parts : undefined).toMatchObject([
      { type: 'tool-call', id: 'a', signature: { issuer: 'google', data: 'thought' } },
    ])
  })

  test('thinking that was turned off is not shown; where it is only not to be seen, it can be replayed', () => {
    const parts: readonly StreamPart[] = [
      start,
      open(0, thought),
      say(0, 'secret'),
      { type: 'signature', block: 0, signature: { issuer: undefined, id: undefined, data: 'sig' } },
      close(0),
      open(1, text),
      say(1, 'Hi'),
      close(1),
      finish('stop'),
      end,
    ]
    const asking = (effort: 'none' | 'high') => ({
      ...PLAIN_REQUEST,
      reasoning: { effort, budgetTokens: undefined, expose: false, summary: undefined },
    })
    expect(JSON.stringify(eventsOf(parts, asking('none')))).not.toContain('thinking')
    const omitted = eventsOf(parts, asking('high'))
    expect(JSON.stringify(omitted)).not.toContain('secret')
    expect(JSON.stringify(omitted)).toContain('signature_delta')
  })

  test('a failure is an error event and no message_stop (docs/protocols.md#trap-38) [D-errors-34] [D-errors-35]', async () => {
    const sse = encodeStream(messagesProtocol, [
      start,
      open(0, text),
      say(0, 'Hi'),
      close(0),
      {
        type: 'error',
        error: { status: 529, type: 'overloaded_error', code: undefined, message: 'busy', raw: null },
      },
    ])
    expect(
      sse.endsWith(
        'event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"busy"}}\n\n',
      ),
    ).toBe(true)
    expect(sse).not.toContain('message_stop')
    await expect(accumulateMessage(sse)).rejects.toThrow('busy')
  })

  test('a stream without its end is a failure (docs/protocols.md#trap-16)', () => {
    expect(types(eventsOf([start, open(0, text), say(0, 'Hi'), close(0), end])).at(-1)).toBe('error')
  })

  test('the sign of life is a ping, once something was sent [D-requests-53]', () => {
    const encoder = messagesProtocol.streamEncoder(replyContext(PLAIN_REQUEST))
    expect(encoder.keepAlive()).toBe('')
    encoder.push(start)
    expect(encoder.keepAlive()).toBe('')
    encoder.push(open(0, text))
    expect(encoder.keepAlive()).toBe('event: ping\ndata: {"type": "ping"}\n\n')
    encoder.push(close(0))
    encoder.push(finish('stop'))
    encoder.push(end)
    expect(encoder.keepAlive()).toBe('')
  })

  test('what is held for overlapping blocks is bounded: more is a failure, not memory', () => {
    const encoder = messagesProtocol.streamEncoder(replyContext(PLAIN_REQUEST))
    let sse = encoder.push(start) + encoder.push(open(0, call('a'))) + encoder.push(open(1, call('b')))
    const piece = 'x'.repeat(1024 * 1024)
    for (let count = 0; count < 20; count++) sse += encoder.push(write(1, piece))
    expect(sse).toContain('event: error')
    expect(sse.length).toBeLessThan(10_000)
    expect(encoder.push(write(0, '{}'))).toBe('')
  })

  test('text tools get their input as JSON, cut anywhere', async () => {
    const custom: BlockStart = {
      type: 'tool-call',
      id: 'a',
      name: 'patch',
      namespace: undefined,
      kind: 'custom',
    }
    const parts = [
      start,
      open(0, custom),
      write(0, 'say "'),
      write(0, '\ud83d'),
      write(0, '\ude00\n'),
      close(0),
      finish('tool-calls'),
      end,
    ]
    expect((await accumulateMessage(encodeStream(messagesProtocol, parts))).content).toMatchObject([
      { input: { input: 'say "😀\n' } },
    ])
  })
})

describe('a stream of a messages upstream', () => {
  const event = (json: JsonObject) => ({ event: textOf(json.type) ?? '', data: JSON.stringify(json) })
  const messageStart = (id = 'msg_1', usage: JsonObject = { input_tokens: 3, output_tokens: 1 }) =>
    event({ type: 'message_start', message: { id, content: [], usage } })
  const blockStart = (index: number, block: JsonObject) =>
    event({ type: 'content_block_start', index, content_block: block })
  const delta = (index: number, json: JsonObject) =>
    event({ type: 'content_block_delta', index, delta: json })
  const textDelta = (index: number, said: string) => delta(index, { type: 'text_delta', text: said })
  const blockStop = (index: number) => event({ type: 'content_block_stop', index })
  const messageDelta = (reason: string, usage: JsonObject = {}) =>
    event({ type: 'message_delta', delta: { stop_reason: reason }, usage })
  const stop = event({ type: 'message_stop' })
  const ping = event({ type: 'ping' })
  const textBlock = { type: 'text', text: '' }
  const useBlock = (id: string) => ({ type: 'tool_use', id, name: 'f', input: {} })

  const read = (...events: readonly { readonly event: string; readonly data: string }[]) => {
    const parts = decodeStream(messagesProtocol, events)
    expectLawfulStream(parts)
    return parts
  }
  const blocksOf = (parts: readonly StreamPart[]) => foldStream(parts).candidates[0]?.blocks ?? []

  test('pings may come anywhere, blanks may pad an event', () => {
    const padded = { event: 'content_block_delta', data: textDelta(0, 'Hi').data.replace(/}$/, '       }') }
    const parts = read(
      ping,
      messageStart(),
      ping,
      blockStart(0, textBlock),
      ping,
      padded,
      ping,
      blockStop(0),
      messageDelta('end_turn'),
      stop,
    )
    expect(blocksOf(parts)).toMatchObject([{ text: 'Hi' }])
  })

  test('a start that comes twice is one start; one of another message is a failure', () => {
    const twice = read(
      messageStart(),
      messageStart(),
      blockStart(0, textBlock),
      blockStop(0),
      messageDelta('end_turn'),
      stop,
    )
    expect(twice.filter(({ type }) => type === 'start')).toHaveLength(1)
    const spliced = read(
      messageStart(),
      blockStart(0, textBlock),
      textDelta(0, 'a'),
      messageStart('msg_2'),
      stop,
    )
    expect(spliced.at(-1)?.type).toBe('error')
  })

  test('counters of the end replace those of the start, also the input (docs/protocols.md#trap-14)', () => {
    const parts = read(
      messageStart('m', { input_tokens: 43, cache_read_input_tokens: 5, output_tokens: 1 }),
      messageDelta('end_turn', { input_tokens: 61, output_tokens: 9 }),
      stop,
    )
    expect(foldStream(parts).usage).toMatchObject({ input: 61, cachedInput: 5, output: 9 })
  })

  test('what was not counted is unknown, not nothing (docs/protocols.md#trap-15)', () => {
    const parts = read(
      event({ type: 'message_start', message: { id: 'm', usage: null } }),
      messageDelta('end_turn'),
      stop,
    )
    expect(foldStream(parts).usage?.output).toBeUndefined()
  })

  test('cached tokens are counted once, whatever their life (docs/protocols.md#trap-26)', () => {
    const usage = {
      input_tokens: 10,
      cache_read_input_tokens: 20,
      cache_creation_input_tokens: 30,
      cache_creation: { ephemeral_5m_input_tokens: 18, ephemeral_1h_input_tokens: 12 },
      output_tokens: 40,
    }
    expect(foldStream(read(messageStart('m', usage), messageDelta('end_turn'), stop)).usage).toEqual({
      input: 10,
      cachedInput: 20,
      cacheWrite: 18,
      cacheWrite1h: 12,
      output: 40,
      reasoning: undefined,
    })
  })

  test('the end repeats what was written to the cache, not for how long; it counts once (docs/protocols.md#trap-26)', () => {
    const begun = {
      input_tokens: 10,
      cache_creation_input_tokens: 30,
      cache_creation: { ephemeral_5m_input_tokens: 18, ephemeral_1h_input_tokens: 12 },
    }
    const ended = { input_tokens: 10, cache_creation_input_tokens: 30, output_tokens: 4 }
    expect(
      foldStream(read(messageStart('m', begun), messageDelta('end_turn', ended), stop)).usage,
    ).toMatchObject({ cacheWrite: 18, cacheWrite1h: 12, output: 4 })
  })

  test('zeros of an upstream that does not count are unknown (docs/protocols.md#trap-15)', () => {
    const zeros = { input_tokens: 0, output_tokens: 0 }
    expect(
      foldStream(read(messageStart('m', zeros), messageDelta('end_turn', zeros), stop)).usage,
    ).toBeUndefined()
  })

  test('input comes back as it was reported, without what was cached (docs/protocols.md#trap-25) [D-names-37]', () => {
    const usage = {
      input_tokens: 10,
      cache_read_input_tokens: 20,
      cache_creation_input_tokens: 0,
      output_tokens: 4,
    }
    const whole = messagesProtocol.decodeResponse({ id: 'm', content: [], stop_reason: 'end_turn', usage })
    expect(whole.usage).toMatchObject({ input: 10, cachedInput: 20 })
    expect(messagesProtocol.encodeResponse(whole, replyContext(PLAIN_REQUEST)).usage).toMatchObject(usage)
  })

  test('what a compaction cost is part of the bill', () => {
    const usage = {
      input_tokens: 10,
      output_tokens: 4,
      iterations: [
        { type: 'compaction', input_tokens: 100, output_tokens: 20 },
        { type: 'message', input_tokens: 10, output_tokens: 4 },
      ],
    }
    const parts = read(messageStart('m', usage), messageDelta('end_turn', usage), stop)
    expect(foldStream(parts).usage).toMatchObject({ input: 110, output: 24 })
  })

  test('calls one behind the other are two calls (docs/protocols.md#trap-2)', () => {
    const parts = read(
      messageStart(),
      blockStart(0, useBlock('a')),
      blockStop(0),
      blockStart(1, useBlock('b')),
      blockStop(1),
      messageDelta('tool_use'),
      stop,
    )
    expect(blocksOf(parts)).toMatchObject([{ id: 'a' }, { id: 'b' }])
  })

  test('text inside a call is a text of its own, a line break there is nothing (docs/protocols.md#trap-6)', () => {
    const parts = read(
      messageStart(),
      blockStart(0, useBlock('a')),
      textDelta(0, '\n'),
      textDelta(0, 'by the way'),
      blockStop(0),
      messageDelta('tool_use'),
      stop,
    )
    expect(blocksOf(parts)).toMatchObject([{ id: 'a', arguments: '{}' }, { text: 'by the way' }])
  })

  test('a call without a delta, or with an empty one, has an empty object (docs/protocols.md#trap-9)', () => {
    const empty = delta(0, { type: 'input_json_delta', partial_json: '' })
    for (const events of [[], [empty], [empty, empty]]) {
      const parts = read(
        messageStart(),
        blockStart(0, useBlock('a')),
        ...events,
        blockStop(0),
        messageDelta('tool_use'),
        stop,
      )
      expect(blocksOf(parts)).toMatchObject([{ arguments: '{}' }])
    }
  })

  test('an answer with a call ends for the call, whatever the upstream says (docs/protocols.md#trap-17)', () => {
    const parts = read(
      messageStart(),
      blockStart(0, useBlock('a')),
      blockStop(0),
      messageDelta('end_turn'),
      stop,
    )
    expect(foldStream(parts).candidates[0]?.finish.reason).toBe('tool-calls')
  })

  test('deltas and stops of blocks that never opened go nowhere (docs/protocols.md#trap-4)', () => {
    const parts = read(
      messageStart(),
      textDelta(7, 'ghost'),
      blockStop(7),
      blockStart(0, textBlock),
      textDelta(0, 'Hi'),
      blockStop(0),
      blockStop(0),
      messageDelta('end_turn'),
      stop,
    )
    expect(blocksOf(parts)).toMatchObject([{ text: 'Hi' }])
  })

  test('a stream without its end is a failure, with every block closed (docs/protocols.md#trap-16)', () => {
    const parts = read(
      messageStart(),
      blockStart(0, textBlock),
      textDelta(0, 'Hi'),
      blockStop(0),
      messageDelta('end_turn'),
    )
    expect(parts.at(-1)).toMatchObject({ type: 'error', error: { status: undefined } })
  })

  test('an error is sent with its type and status, also as the first event of a 200 (docs/protocols.md#trap-38)', () => {
    const error = event({ type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } })
    expect(read(error)).toMatchObject([
      { type: 'error', error: { status: 529, type: 'overloaded_error', message: 'Overloaded' } },
    ])
    expect(read(messageStart(), blockStart(0, textBlock), error).map(({ type }) => type)).toEqual([
      'start',
      'usage',
      'block-start',
      'block-end',
      'error',
    ])
  })

  test('a refusal is a refusal, with its explanation (docs/protocols.md#trap-19)', () => {
    const refusal = event({
      type: 'message_delta',
      delta: { stop_reason: 'refusal', stop_details: { type: 'refusal', explanation: 'no' } },
      usage: {},
    })
    expect(foldStream(read(messageStart(), refusal, stop)).candidates[0]?.finish).toMatchObject({
      reason: 'refusal',
      explanation: 'no',
    })
  })

  test('server tools are kept whole for clients of this protocol', () => {
    const parts = read(
      messageStart(),
      blockStart(0, { type: 'server_tool_use', id: 's', name: 'web_search', input: {} }),
      delta(0, { type: 'input_json_delta', partial_json: '{"query":' }),
      delta(0, { type: 'input_json_delta', partial_json: '"x"}' }),
      blockStop(0),
      blockStart(1, { type: 'web_search_tool_result', tool_use_id: 's', content: [] }),
      blockStop(1),
      messageDelta('end_turn'),
      stop,
    )
    expect(blocksOf(parts)).toMatchObject([
      { type: 'opaque', json: { type: 'server_tool_use', input: { query: 'x' } } },
      { type: 'opaque', json: { type: 'web_search_tool_result' } },
    ])
  })

  test('citations of the web are kept with their address', () => {
    const citation = {
      type: 'web_search_result_location',
      url: 'https://a',
      title: 'A',
      encrypted_index: 'x',
    }
    const parts = read(
      messageStart(),
      blockStart(0, textBlock),
      delta(0, { type: 'citations_delta', citation }),
      textDelta(0, 'A'),
      blockStop(0),
      messageDelta('end_turn'),
      stop,
    )
    expect(blocksOf(parts)).toMatchObject([{ citations: [{ url: 'https://a', title: 'A' }] }])
  })

  test('[DONE] of a careless proxy is nothing', () => {
    const parts = read(messageStart(), messageDelta('end_turn'), stop, { event: '', data: '[DONE]' })
    expect(parts.at(-1)).toEqual({ type: 'end' })
  })
})

test('a signature another gateway sealed stays sealed: only it can read it', () => {
  const sealed = sealSignature({ issuer: 'google', id: undefined, data: 'x' }, 'summary', 'google')
  const response = messagesProtocol.decodeResponse({
    id: 'm',
    content: [{ type: 'thinking', thinking: 'hm', signature: sealed }],
    stop_reason: 'end_turn',
  })
  expect(response.candidates[0]?.blocks).toMatchObject([{ signature: { issuer: undefined, data: sealed } }])
})

test('a 200 that is no message is a failure', () => {
  expect(messagesProtocol.decodeResponse('<html>').failure).toBeDefined()
  expect(messagesProtocol.decodeResponse({ hello: 1 }).failure).toBeDefined()
  expect(
    messagesProtocol.decodeResponse({ type: 'error', error: { type: 'api_error', message: 'x' } }).failure,
  ).toMatchObject({ status: 500, type: 'api_error', message: 'x' })
})
