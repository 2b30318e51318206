import type { ProtocolId } from '../../catalogue.ts'
import type { UsageReader } from '../../metering/counters.ts'
import { USAGE_READERS } from '../../metering/usage-readers.ts'
import { CHAT_ANSWERS } from './answer-chat.ts'
import { GEMINI_ANSWERS } from './answer-gemini.ts'
import { MESSAGES_ANSWERS } from './answer-messages.ts'
import { RESPONSES_ANSWERS } from './answer-responses.ts'
import type { AnswerRole, AnswerTable, EventRule } from './answer-table.ts'
import { compileWatchTree, type WatchNode } from '../watch-tree.ts'
import { createWordTable, type WordTable } from '../word-table.ts'

/** A protocol's table in the form the taps use: words and paths matched as bytes. */
export interface CompiledAnswers {
  readonly stream: {
    readonly tree: WatchNode
    readonly events: WordTable<EventRule>
    readonly typed: boolean
    readonly contentPrefix: Uint8Array | undefined
    readonly quietBlocks: WordTable<true>
    readonly done: AnswerTable['stream']['done']
    readonly finishTerminates: boolean
  }
  readonly bodyTree: WatchNode
  readonly imageItem: WordTable<true>
}

/** The role a watch number stands for. */
export function roleOf(watch: number): AnswerRole | undefined {
  return ROLES[watch]
}

function compile(table: AnswerTable): CompiledAnswers {
  const { stream } = table
  return {
    stream: {
      tree: treeOf(stream.fields),
      events: createWordTable(Object.entries(stream.events)),
      typed: Object.keys(stream.events).length > 0,
      contentPrefix:
        stream.contentPrefix === undefined ? undefined : new TextEncoder().encode(stream.contentPrefix),
      quietBlocks: wordSet(stream.quietBlocks),
      done: stream.done,
      finishTerminates: stream.finishTerminates,
    },
    bodyTree: treeOf(table.body.fields),
    imageItem: wordSet(table.imageItemType === undefined ? [] : [table.imageItemType]),
  }
}

function treeOf(fields: Readonly<Record<string, AnswerRole>>): WatchNode {
  return compileWatchTree(
    Object.entries(fields).map(([path, role]) => ({
      path,
      watch: ROLE_NUMBERS[role],
      wanted: WANTED.has(role),
    })),
  )
}

function wordSet(words: readonly string[]): WordTable<true> {
  return createWordTable(words.map((word) => [word, true] as const))
}

const ROLE_NUMBERS = {
  model: 0,
  usage: 1,
  'usage-at-start': 2,
  error: 3,
  type: 4,
  text: 5,
  json: 6,
  'text-again': 7,
  begun: 8,
  'block-type': 9,
  choice: 10,
  'choice-index': 11,
  finish: 12,
  image: 13,
  item: 14,
  'item-type': 15,
  'item-result': 16,
  'item-image-type': 17,
  'item-thought': 18,
  'answer-id': 19,
  'sequence-number': 20,
  'message-id': 21,
  'item-image': 22,
} as const satisfies Record<AnswerRole, number>

const ROLES: readonly AnswerRole[] = Object.keys(ROLE_NUMBERS).filter(
  (name): name is AnswerRole => name in ROLE_NUMBERS,
)

/** Roles whose bytes are read, so that a cut value is kept until it is whole. */
const WANTED: ReadonlySet<AnswerRole> = new Set([
  'usage',
  'usage-at-start',
  'error',
  'text',
  'json',
  'item-type',
  'item-image-type',
  'answer-id',
  'message-id',
])

export const MODEL_WATCH: number = ROLE_NUMBERS.model

/** What is read from the answers of one wire form. */
export interface AnswerForm {
  readonly answers: CompiledAnswers
  readonly usage: () => UsageReader
  /** False: an answer is one document, whatever was requested. */
  readonly streams: boolean
}

export function answerForm(table: AnswerTable, usage: () => UsageReader): AnswerForm {
  return { answers: compile(table), usage, streams: true }
}

/** For answers that are one JSON document each and are never streamed. */
export function wholeAnswerForm(
  fields: AnswerTable['body']['fields'],
  usage: () => UsageReader = NOTHING_TOLD,
): AnswerForm {
  return {
    ...answerForm({ stream: NO_STREAM, body: { fields }, imageItemType: undefined }, usage),
    streams: false,
  }
}

/** For answers without usage. */
const NOTHING_TOLD = (): UsageReader => ({ read: () => undefined })

const NO_STREAM: AnswerTable['stream'] = {
  fields: {},
  events: {},
  contentPrefix: undefined,
  quietBlocks: [],
  done: 'none',
  finishTerminates: false,
}

export const ANSWER_FORMS: Readonly<Record<ProtocolId, AnswerForm>> = {
  chat: answerForm(CHAT_ANSWERS, USAGE_READERS.chat),
  responses: answerForm(RESPONSES_ANSWERS, USAGE_READERS.responses),
  messages: answerForm(MESSAGES_ANSWERS, USAGE_READERS.messages),
  gemini: answerForm(GEMINI_ANSWERS, USAGE_READERS.gemini),
}
