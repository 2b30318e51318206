/** Recordings of every provider converted for the clients of every other protocol, and read by the official clients. */
import { describe, expect, test } from 'vitest'
import { findRecordings, type StreamRecording } from '../../../../test/recordings.ts'
import { argumentsObject, parseJson } from '../../canonical/json-text.ts'
import { foldStream } from '../../canonical/fold.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import type { CanonicalResponse, StreamPart } from '../../canonical/response.ts'
import { PROTOCOL_IDS, type ProtocolId } from '../../catalogue.ts'
import { isJsonObject, type JsonValue } from '../../json.ts'
import { chatProtocol } from '../chat/index.ts'
import { geminiProtocol } from '../gemini/index.ts'
import { decodeStream, encodeStream, expectLawfulStream, PLAIN_REQUEST, replyContext } from './laws.ts'
import { messagesProtocol } from '../messages/index.ts'
import { accumulateChat, accumulateMessage, accumulateResponse, collectGemini } from './official-clients.ts'
import type { Protocol } from '../protocol.ts'
import { listOf, objectOf, textOf } from '../read-json.ts'
import { responsesProtocol } from '../responses/index.ts'

const PROTOCOLS: Readonly<Record<ProtocolId, Protocol>> = {
  chat: chatProtocol,
  responses: responsesProtocol,
  messages: messagesProtocol,
  gemini: geminiProtocol,
}

/** A client that wants to see everything. */
const ASKED: CanonicalRequest = {
  ...PLAIN_REQUEST,
  reasoning: { effort: 'high', budgetTokens: undefined, expose: true, summary: 'auto' },
}

/** What any client receives of an answer. */
interface Heard {
  readonly text: string
  readonly thoughts: string
  readonly calls: readonly { readonly name: string; readonly input: unknown }[]
}

/** Answers that end in a failure of the recording; each has a test of its own beside its protocol. */
const BROKEN = /used-up-quota|openai-error|parallel-tool-call-wrapper|spliced-message-start/

const streams = PROTOCOL_IDS.flatMap((id) =>
  findRecordings(id).flatMap((recording) =>
    recording.kind === 'stream' && !BROKEN.test(recording.name) ? [{ id, recording }] : [],
  ),
)

describe('recorded streams', () => {
  test.each(streams.map(({ id, recording }) => [`${id}: ${recording.name}`, id, recording] as const))(
    '%s',
    async (_name, id, recording) => {
      const parts = decodeRecording(id, recording)
      expectLawfulStream(parts)
      const whole = foldStream(parts)
      const said = heardIn(whole)
      await expectMessage(parts, whole, said)
      await expectGemini(parts, whole, said)
      if (id === 'messages' || id === 'gemini') await expectOpenAi(parts, said)
    },
  )
})

describe('recorded answers', () => {
  const answers = PROTOCOL_IDS.flatMap((id) =>
    findRecordings(id).flatMap((recording) => (recording.kind === 'whole' ? [{ id, recording }] : [])),
  )

  test.each(answers.map(({ id, recording }) => [`${id}: ${recording.name}`, id, recording.body] as const))(
    '%s',
    (_name, id, body) => {
      if (!isJsonObject(body) || (body.error !== undefined && body.error !== null)) return
      const response = (body.choices === undefined ? PROTOCOLS[id] : chatProtocol).decodeResponse(body)
      const said = heardIn(response)
      const message = messagesProtocol.encodeResponse(response, replyContext(ASKED))
      expect(heardFromMessage(listOf(message.content))).toEqual(withoutBlankText(said))
      const candidate = objectOf(
        listOf(geminiProtocol.encodeResponse(response, replyContext(ASKED)).candidates)[0],
      )
      expect(heardFromParts(listOf(objectOf(candidate?.content)?.parts))).toEqual(said)
    },
  )
})

/** The recordings of chat lack the terminator that chat upstreams send; some lie among those of another protocol. */
function decodeRecording(id: ProtocolId, { events }: StreamRecording): readonly StreamPart[] {
  const isChat = objectOf(parseJson(events[0]?.data ?? ''))?.choices !== undefined
  return isChat
    ? decodeStream(chatProtocol, [...events, { event: '', data: '[DONE]' }])
    : decodeStream(PROTOCOLS[id], events)
}

function heardIn({ candidates }: CanonicalResponse): Heard {
  const blocks = candidates[0]?.blocks ?? []
  return {
    text: blocks
      .map((block) => (block.type === 'text' || block.type === 'refusal' ? block.text : ''))
      .join(''),
    thoughts: blocks.map((block) => (block.type === 'reasoning' ? block.text : '')).join(''),
    calls: blocks.flatMap((block) =>
      block.type === 'tool-call' ? [{ name: block.name, input: inputOf(block) }] : [],
    ),
  }
}

function inputOf(call: { readonly kind: 'function' | 'custom'; readonly arguments: string }): unknown {
  return call.kind === 'custom' ? { input: call.arguments } : argumentsObject(call.arguments)
}

async function expectMessage(
  parts: readonly StreamPart[],
  whole: CanonicalResponse,
  said: Heard,
): Promise<void> {
  const message = await accumulateMessage(encodeStream(messagesProtocol, parts, ASKED))
  expect(heardFromMessage(listOf(parseJson(JSON.stringify(message.content))))).toEqual(withoutBlankText(said))
  if (whole.usage?.output !== undefined) {
    const { input = 0, cachedInput = 0, output } = whole.usage
    expect(message.usage).toMatchObject({
      input_tokens: input,
      cache_read_input_tokens: cachedInput,
      output_tokens: output,
    })
  }
  expect(message.stop_reason === 'tool_use').toBe(whole.candidates[0]?.finish.reason === 'tool-calls')
}

/** Blank texts are not sent to clients of messages, which could not send them back. */
function withoutBlankText(said: Heard): Heard {
  return said.text.trim() === '' ? { ...said, text: '' } : said
}

function heardFromMessage(content: readonly JsonValue[]): Heard {
  const blocks = content.map((block) => objectOf(block) ?? {})
  return {
    text: blocks.map((block) => (block.type === 'text' ? (textOf(block.text) ?? '') : '')).join(''),
    thoughts: blocks.map((block) => textOf(block.thinking) ?? '').join(''),
    calls: blocks
      .filter((block) => block.type === 'tool_use')
      .map((block) => ({ name: textOf(block.name) ?? '', input: block.input })),
  }
}

async function expectGemini(
  parts: readonly StreamPart[],
  whole: CanonicalResponse,
  said: Heard,
): Promise<void> {
  const chunks = await collectGemini(encodeStream(geminiProtocol, parts, ASKED))
  const received = chunks.flatMap((chunk) => chunk.candidates?.[0]?.content?.parts ?? [])
  expect(heardFromParts(listOf(parseJson(JSON.stringify(received))))).toEqual(said)
  expect(chunks.at(-1)?.candidates?.[0]?.finishReason).toBeDefined()
  if (whole.usage?.output !== undefined) {
    const { candidatesTokenCount = 0, thoughtsTokenCount = 0 } = chunks.at(-1)?.usageMetadata ?? {}
    expect(candidatesTokenCount + thoughtsTokenCount).toBe(whole.usage.output)
  }
}

function heardFromParts(received: readonly JsonValue[]): Heard {
  const parts = received.map((part) => objectOf(part) ?? {})
  const texts = (thought: boolean) =>
    parts.map((part) => ((part.thought === true) === thought ? (textOf(part.text) ?? '') : '')).join('')
  return {
    text: texts(false),
    thoughts: texts(true),
    calls: parts.flatMap((part) => {
      const call = objectOf(part.functionCall)
      return call === undefined ? [] : [{ name: textOf(call.name) ?? '', input: call.args }]
    }),
  }
}

async function expectOpenAi(parts: readonly StreamPart[], said: Heard): Promise<void> {
  const completion = await accumulateChat(encodeStream(chatProtocol, parts, ASKED))
  const message = completion.choices[0]?.message
  expect(message?.content ?? '').toBe(said.text)
  expect(
    (message?.tool_calls ?? []).map((call) =>
      call.type === 'function'
        ? { name: call.function.name, input: argumentsObject(call.function.arguments) }
        : { name: call.custom.name, input: { input: call.custom.input } },
    ),
  ).toEqual(said.calls)
  const response = await accumulateResponse(encodeStream(responsesProtocol, parts, ASKED))
  expect(response.output_text).toBe(said.text)
  expect(
    response.output.flatMap((item) =>
      item.type === 'function_call' ? [{ name: item.name, input: argumentsObject(item.arguments) }] : [],
    ),
  ).toEqual(said.calls)
}
