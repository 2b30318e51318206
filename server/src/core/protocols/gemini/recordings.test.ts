import { describe, expect, test } from 'vitest'
import { findRecordings, type StreamRecording } from '../../../../test/recordings.ts'
import { foldStream } from '../../canonical/fold.ts'
import { parseJson } from '../../canonical/json-text.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import type { CanonicalResponse } from '../../canonical/response.ts'
import type { JsonObject, JsonValue } from '../../json.ts'
import { decodeStream, encodeStream, PLAIN_REQUEST, replyContext } from '../testing/laws.ts'
import { collectGemini, withGemini } from '../testing/official-clients.ts'
import { listOf, numberOf, objectOf, textOf } from '../read-json.ts'
import { geminiProtocol } from './index.ts'

/** A client that wants to see everything. */
const asked: CanonicalRequest = {
  ...PLAIN_REQUEST,
  reasoning: { effort: undefined, budgetTokens: undefined, expose: true, summary: 'auto' },
}

/** Everything a recording says, gathered without the decoder under test. */
function wordsOf(chunks: readonly JsonObject[]) {
  const said = { text: '', calls: 0, signatures: 0, candidateTokens: 0, thoughtTokens: 0 }
  for (const chunk of chunks) {
    const usage = objectOf(chunk.usageMetadata)
    said.candidateTokens = numberOf(usage?.candidatesTokenCount) ?? said.candidateTokens
    said.thoughtTokens = numberOf(usage?.thoughtsTokenCount) ?? said.thoughtTokens
    for (const part of partsOf(chunk)) {
      if (part.thought !== true) said.text += textOf(part.text) ?? ''
      said.calls += objectOf(part.functionCall)?.name === undefined ? 0 : 1
      said.signatures += part.thoughtSignature === undefined ? 0 : 1
    }
  }
  return said
}

function partsOf(chunk: JsonObject): readonly JsonObject[] {
  return listOf(chunk.candidates).flatMap((candidate) =>
    listOf(objectOf(objectOf(candidate)?.content)?.parts).map((part) => objectOf(part) ?? {}),
  )
}

function heard(response: CanonicalResponse) {
  const blocks = response.candidates.flatMap((candidate) => candidate.blocks)
  return {
    text: blocks.map((block) => (block.type === 'text' ? block.text : '')).join(''),
    calls: blocks.filter(({ type }) => type === 'tool-call').length,
    signatures: blocks.filter((block) => 'signature' in block && block.signature !== undefined).length,
    candidateTokens: (response.usage?.output ?? 0) - (response.usage?.reasoning ?? 0),
    thoughtTokens: response.usage?.reasoning ?? 0,
  }
}

const recordings = findRecordings('gemini')
const streams = recordings.filter((recording): recording is StreamRecording => recording.kind === 'stream')

describe('recorded streams', () => {
  test('there are some', () => expect(streams.length).toBeGreaterThan(5))

  test.each(streams.map((recording) => [recording.name, recording] as const))(
    '%s',
    async (_name, { events }) => {
      const chunks = events.map(({ data }) => objectOf(parseJson(data)) ?? {})
      const parts = decodeStream(geminiProtocol, events)
      const whole = foldStream(parts)
      expect(parts.at(-1)).toEqual({ type: 'end' })
      expect(heard(whole)).toEqual(wordsOf(chunks))

      const received = await collectGemini(encodeStream(geminiProtocol, parts, asked))
      const texts = received.flatMap((chunk) => chunk.candidates?.[0]?.content?.parts ?? [])
      const answer = texts.filter(({ thought }) => thought !== true).map(({ text }) => text ?? '')
      expect(answer.join('')).toBe(wordsOf(chunks).text)
      const calls = received.flatMap((chunk) => chunk.functionCalls ?? [])
      expect(calls.map(({ args }) => args)).toEqual(argumentsOf(whole))
      expect(received.at(-1)?.candidates?.[0]?.finishReason).toBe('STOP')
      expect(received.at(-1)?.usageMetadata?.thoughtsTokenCount ?? 0).toBe(wordsOf(chunks).thoughtTokens)
    },
  )

  test('arguments streamed in pieces come together', () => {
    const nested = streams.find(({ name }) => name.includes('arguments-nested'))
    const missing = streams.find(({ name }) => name.includes('missing-terminal'))
    const [recipe] = argumentsOf(foldStream(decodeStream(geminiProtocol, nested?.events ?? [])))
    const [items] = argumentsOf(foldStream(decodeStream(geminiProtocol, missing?.events ?? [])))
    expect(recipe).toMatchObject({ recipe: expect.anything() })
    expect(objectOf(items)?.operations).toMatchObject([{ action: 'add' }, expect.anything()])
  })
})

describe('recorded answers', () => {
  const answers = recordings.filter((recording) => recording.kind === 'whole')

  test.each(answers.map((recording) => [recording.name, recording] as const))(
    '%s',
    async (_name, recording) => {
      const body = objectOf(recording.kind === 'whole' ? recording.body : null) ?? {}
      const response = geminiProtocol.decodeResponse(body)
      expect(heard(response)).toEqual(wordsOf([body]))
      const encoded = JSON.stringify(geminiProtocol.encodeResponse(response, replyContext(asked)))
      const received = await withGemini(encoded, (client) =>
        client.models.generateContent({ model: 'gemini-3-pro', contents: 'hello' }),
      )
      expect(received.text ?? '').toBe(wordsOf([body]).text)
      expect((received.functionCalls ?? []).map(({ args }) => args)).toEqual(argumentsOf(response))
      expect(received.usageMetadata).toMatchObject(
        objectOf(body.usageMetadata) === undefined ? {} : countersOf(body),
      )
    },
  )
})

function argumentsOf(response: CanonicalResponse): readonly (JsonValue | undefined)[] {
  return response.candidates
    .flatMap(({ blocks }) => blocks)
    .flatMap((block) => (block.type === 'tool-call' ? [parseJson(block.arguments)] : []))
}

function countersOf(body: JsonObject): JsonObject {
  const { promptTokensDetails: _details, ...counters } = objectOf(body.usageMetadata) ?? {}
  return counters
}
