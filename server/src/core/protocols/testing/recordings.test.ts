import { describe, expect, test } from 'vitest'
import { findRecordings, recordingFiles, type StreamRecording } from '../../../../test/recordings.ts'
import { foldStream } from '../../canonical/fold.ts'
import { parseJson } from '../../canonical/json-text.ts'
import type { Block, CanonicalResponse, StreamPart } from '../../canonical/response.ts'
import type { Usage } from '../../canonical/usage.ts'
import { isJsonObject, type JsonObject } from '../../json.ts'
import { chatProtocol } from '../chat/index.ts'
import { encodeUsage as encodeChatUsage } from '../chat/answer/usage.ts'
import {
  decodeStream,
  encodeStream,
  expectLawfulStream,
  PLAIN_REQUEST,
  replyContext,
  sseEvents,
} from './laws.ts'
import { accumulateChat, accumulateResponse } from './official-clients.ts'
import type { SseEvent } from '../protocol.ts'
import { countOf, listOf, type Maybe, objectOf, textOf, wordOf } from '../read-json.ts'
import { geminiProtocol } from '../gemini/index.ts'
import { messagesProtocol } from '../messages/index.ts'
import { responsesProtocol } from '../responses/index.ts'
import { encodeUsage as encodeResponsesUsage } from '../responses/answer/usage.ts'

/** What an answer says, gathered without the code under test. */
interface Words {
  text: string
  reasoning: string
  calls: { name: string; arguments: string }[]
  /** Output tokens as reported; `undefined` where the recording has none. */
  output: number | undefined
}

const FAILING = /used-up-quota|openai-error/
/** Its last line is broken in the recording. */
const CUT = /parallel-tool-call-wrapper/
const recordings = [...findRecordings('chat'), ...findRecordings('responses')]

describe('recorded streams', () => {
  const streams = recordings.filter(
    ({ kind, name }) => kind === 'stream' && !FAILING.test(name) && !CUT.test(name),
  )

  test('there are some of every vendor', () => expect(streams.length).toBeGreaterThan(40))

  test.each(streams.map((recording) => [recording.name, recording] as const))(
    '%s keeps its words in both protocols',
    async (_name, recording) => {
      if (recording.kind !== 'stream') return
      const parts = decodeRecording(recording)
      expectLawfulStream(parts)
      expect(parts.at(-1)).toEqual({ type: 'end' })
      const whole = foldStream(parts)
      const said = wordsOfStream(recording.events)
      expect(wordsOfBlocks(whole)).toEqual(said)
      await expectChat(parts, said, whole.usage)
      await expectResponse(parts, said, whole.usage)
    },
  )

  test('a proxy that counts text among its tools keeps the call', async () => {
    const file = recordingFiles().find(({ name }) => name.endsWith('text-counted-among-tools.sse'))
    const parts = decodeStream(chatProtocol, sseEvents(`${file?.text ?? ''}\n\n`))
    expectLawfulStream(parts)
    const completion = await accumulateChat(encodeStream(chatProtocol, parts))
    expect(completion.choices[0]?.message.content).toBe('Opening it.')
    expect(completion.choices[0]?.message.tool_calls).toMatchObject([
      { id: 'toolu_log', function: { name: 'open_log', arguments: '{"page": "7a"}' } },
    ])
  })

  test('a call whose stream is cut keeps its arguments and ends in an error', () => {
    const recording = recordings.find(({ kind, name }) => kind === 'stream' && CUT.test(name))
    if (recording?.kind !== 'stream') throw new Error('the recording is gone')
    const parts = decodeRecording(recording)
    expectLawfulStream(parts)
    expect(parts.at(-1)?.type).toBe('error')
    // The wrapper around them is unwrapped: clients never declared a tool called `parallel`.
    expect(wordsOfBlocks(foldStream(parts)).calls).toEqual([
      { name: 'bearing', arguments: '{"light":"Inner"}' },
      { name: 'bearing', arguments: '{"light":"Outer"}' },
    ])
  })

  test('a quota that is used up is an error in both protocols and no end', async () => {
    const recording = recordings.find(({ kind, name }) => kind === 'stream' && FAILING.test(name))
    if (recording?.kind !== 'stream') throw new Error('the recording is gone')
    const parts = decodeRecording(recording)
    expectLawfulStream(parts)
    const last = parts.at(-1)
    expect(last?.type === 'error' && [last.error.status, last.error.code]).toEqual([
      429,
      'insufficient_quota',
    ])
    await expect(accumulateChat(encodeStream(chatProtocol, parts))).rejects.toThrow(
      'exceeded your current quota',
    )
    await expect(accumulateResponse(encodeStream(responsesProtocol, parts))).rejects.toThrow(
      'exceeded your current quota',
    )
  })
})

describe('recorded answers', () => {
  const answers = recordings.filter(({ kind, name }) => kind === 'whole' && !CUT.test(name))

  test.each(answers.map((recording) => [recording.name, recording] as const))(
    '%s keeps its words in both protocols',
    (_name, recording) => {
      if (recording.kind !== 'whole' || !isJsonObject(recording.body)) return
      const protocol = recording.body.choices === undefined ? responsesProtocol : chatProtocol
      const response = protocol.decodeResponse(recording.body)
      if (recording.body.error !== undefined && recording.body.error !== null) {
        expect(response.failure?.message).toBe(textOf(objectOf(recording.body.error)?.message))
        return
      }
      const said = wordsOfBody(recording.body)
      expect(wordsOfBlocks(response)).toEqual(said)
      for (const client of [chatProtocol, responsesProtocol]) {
        const body = client.encodeResponse(response, replyContext(PLAIN_REQUEST))
        expect(wordsOfBody(body)).toEqual({ ...said, output: response.usage?.output })
      }
    },
  )
})

describe('recorded streams of the other protocols', () => {
  const foreign = [messagesProtocol, geminiProtocol].flatMap((protocol) =>
    findRecordings(protocol.id).flatMap((recording) => {
      if (recording.kind !== 'stream') return []
      const parts = decodeStream(protocol, recording.events)
      return endsPlainly(parts) ? [[recording.name, parts] as const] : []
    }),
  )

  test('there are some', () => expect(foreign.length).toBeGreaterThan(20))

  test.each(foreign)('%s is read by the official client in both protocols', async (_name, parts) => {
    const whole = foldStream(parts)
    const said = wordsOfBlocks(whole)
    const cut = whole.candidates.some(
      ({ finish }) => finish.reason !== 'stop' && finish.reason !== 'tool-calls',
    )
    // The SDK throws at an answer that was cut short or refused, as it does with OpenAI's own.
    if (cut) return
    await expectChat(parts, said, whole.usage)
    await expectResponse(parts, said, whole.usage)
  })
})

/** Answers that were cut short or refused end in words of their own, which the stream tests show. */
function endsPlainly(parts: readonly StreamPart[]): boolean {
  const reasons = parts.flatMap((part) => (part.type === 'finish' ? [part.finish.reason] : []))
  return (
    parts.at(-1)?.type === 'end' && reasons.every((reason) => reason === 'stop' || reason === 'tool-calls')
  )
}

async function expectChat(
  parts: readonly StreamPart[],
  said: Words,
  usage: Usage | undefined,
): Promise<void> {
  const completion = await accumulateChat(encodeStream(chatProtocol, parts))
  const message = completion.choices[0]?.message
  expect(message?.content ?? '').toBe(said.text)
  const calls = message?.tool_calls ?? []
  expect(
    calls.map((call) =>
      call.type === 'function'
        ? { name: call.function.name, arguments: call.function.arguments }
        : { name: call.custom.name, arguments: call.custom.input },
    ),
  ).toEqual(said.calls)
  const reasons = { true: 'tool_calls', false: 'stop' } as const
  expect(completion.choices[0]?.finish_reason).toBe(reasons[`${said.calls.length > 0}`])
  if (usage !== undefined) expect(completion.usage).toMatchObject(encodeChatUsage(usage))
}

async function expectResponse(
  parts: readonly StreamPart[],
  said: Words,
  usage: Usage | undefined,
): Promise<void> {
  const response = await accumulateResponse(encodeStream(responsesProtocol, parts))
  expect(response.status).toBe('completed')
  expect(response.output_text).toBe(said.text)
  const calls = response.output.flatMap((item) => {
    if (item.type === 'function_call') return [{ name: item.name, arguments: item.arguments }]
    return item.type === 'custom_tool_call' ? [{ name: item.name, arguments: item.input }] : []
  })
  expect(calls).toEqual(said.calls)
  if (usage !== undefined) expect(response.usage).toMatchObject(encodeResponsesUsage(usage))
}

/** The recordings lack the terminator, which chat upstreams send. */
function decodeRecording({ events }: StreamRecording): readonly StreamPart[] {
  return isChat(events)
    ? decodeStream(chatProtocol, [...events, { event: '', data: '[DONE]' }])
    : decodeStream(responsesProtocol, events)
}

function isChat(events: readonly SseEvent[]): boolean {
  return objectOf(parseJson(events[0]?.data ?? ''))?.choices !== undefined
}

function wordsOfBlocks(response: CanonicalResponse): Words {
  const blocks: readonly Block[] = response.candidates.flatMap((candidate) => candidate.blocks)
  const texts = (type: 'text' | 'reasoning'): string =>
    blocks
      .flatMap((block) => (block.type === type && block.text !== '' ? [block.text] : []))
      .join(type === 'text' ? '' : '\n\n')
  return {
    text: texts('text'),
    reasoning: texts('reasoning'),
    calls: blocks.flatMap((block) =>
      block.type === 'tool-call' ? [{ name: block.name, arguments: block.arguments }] : [],
    ),
    output: response.usage?.output,
  }
}

function listed(value: Maybe): readonly JsonObject[] {
  return isJsonObject(value) ? [value] : []
}

function wordsOfStream(events: readonly SseEvent[]): Words {
  const chunks = events.flatMap(({ data }) => listed(parseJson(data)))
  return isChat(events) ? wordsOfChunks(chunks) : wordsOfEvents(chunks)
}

function wordsOfChunks(chunks: readonly JsonObject[]): Words {
  const words: Words = { text: '', reasoning: '', calls: [], output: undefined }
  for (const chunk of chunks) {
    words.output = chatOutput(chunk.usage) ?? words.output
    const delta = objectOf(objectOf(listOf(chunk.choices)[0])?.delta) ?? {}
    words.text += textOf(delta.content) ?? ''
    words.reasoning += textOf(delta.reasoning_content) ?? textOf(delta.reasoning) ?? ''
    for (const entry of listOf(delta.tool_calls)) {
      const callee = objectOf(objectOf(entry)?.function)
      const name = wordOf(callee?.name)
      if (name !== undefined) words.calls.push({ name, arguments: '' })
      const call = words.calls.at(-1)
      if (call !== undefined) call.arguments += textOf(callee?.arguments) ?? ''
    }
  }
  return words
}

/** xAI leaves reasoning out of the output, which only its total shows. */
function chatOutput(usage: unknown): number | undefined {
  if (!isJsonObject(usage)) return undefined
  const total = countOf(usage.total_tokens)
  const prompt = countOf(usage.prompt_tokens)
  return total === undefined || prompt === undefined ? countOf(usage.completion_tokens) : total - prompt
}

function wordsOfEvents(events: readonly JsonObject[]): Words {
  const words: Words = { text: '', reasoning: '', calls: [], output: undefined }
  const reasoning = new Map<string, string>()
  for (const event of events) {
    if (event.type === 'response.output_text.delta') words.text += textOf(event.delta) ?? ''
    if (
      event.type === 'response.reasoning_text.delta' ||
      event.type === 'response.reasoning_summary_text.delta'
    ) {
      const key = JSON.stringify([event.output_index, event.summary_index ?? event.content_index])
      reasoning.set(key, (reasoning.get(key) ?? '') + (textOf(event.delta) ?? ''))
    }
    const item = event.type === 'response.output_item.done' ? objectOf(event.item) : undefined
    if (item !== undefined) words.calls.push(...callsOf(item))
    const usage = objectOf(objectOf(event.response)?.usage)
    words.output = countOf(usage?.output_tokens) ?? words.output
  }
  words.reasoning = [...reasoning.values()].join('\n\n')
  return words
}

function callsOf(item: JsonObject): Words['calls'] {
  const name = textOf(item.name) ?? ''
  if (item.type === 'function_call') return [{ name, arguments: textOf(item.arguments) ?? '' }]
  return item.type === 'custom_tool_call' ? [{ name, arguments: textOf(item.input) ?? '' }] : []
}

function wordsOfBody(body: JsonObject): Words {
  return body.choices === undefined ? wordsOfResponse(body) : wordsOfCompletion(body)
}

function wordsOfCompletion(body: JsonObject): Words {
  const message = objectOf(objectOf(listOf(body.choices)[0])?.message) ?? {}
  return {
    text: textOf(message.content) ?? '',
    reasoning: textOf(message.reasoning_content) ?? textOf(message.reasoning) ?? '',
    calls: listOf(message.tool_calls).map((entry) => {
      const callee = objectOf(objectOf(entry)?.function) ?? objectOf(objectOf(entry)?.custom)
      return {
        name: textOf(callee?.name) ?? '',
        arguments: textOf(callee?.arguments) ?? textOf(callee?.input) ?? '',
      }
    }),
    output: chatOutput(body.usage),
  }
}

function wordsOfResponse(body: JsonObject): Words {
  const items = listOf(body.output).flatMap(listed)
  const partsOf = (type: string, field: string): readonly string[] =>
    items
      .filter((item) => item.type === type)
      .flatMap((item) => listOf(item[field]).flatMap((part) => wordOf(objectOf(part)?.text) ?? []))
  return {
    text: partsOf('message', 'content').join(''),
    reasoning: [...partsOf('reasoning', 'summary'), ...partsOf('reasoning', 'content')].join('\n\n'),
    calls: items.flatMap(callsOf),
    output: countOf(objectOf(body.usage)?.output_tokens),
  }
}
