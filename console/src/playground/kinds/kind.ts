/** What the playground knows of an endpoint: one file each in this folder, one line each in the registry. */
import type { ReactNode } from 'react'
import type { SectionTexts } from '../../texts/sections.ts'
import type { Parameters, Reply, Tool, Turn } from '../conversation.ts'
import type { JsonRecord } from '../../parts/values/json.ts'

/** A call as it goes over the wire. */
export interface WireRequest {
  readonly path: string
  readonly body: JsonRecord
  /** Sent beside the body, which is a form then, each under its own name. Absent: the body is JSON. */
  readonly files?: Files
}

/** By the name of their field. */
export type Files = Readonly<Record<string, File>>

interface Named {
  /** As the catalogue writes it among a model's `endpoints`. */
  readonly path: string
  /** The call with the vendor's own library, in Python; `KEY` stands where the key is read. */
  readonly snippet: (request: WireRequest, baseUrl: string) => string
  readonly library: string
}

/** One talks, and what was said before goes along. */
export interface ConversationKind extends Named {
  readonly form: 'conversation'
  readonly id: string
  /** The protocol's name, the same in every language. */
  readonly label: string
  request(asked: {
    readonly model: string
    readonly turns: readonly Turn[]
    readonly parameters: Parameters
    readonly tools: readonly Tool[]
  }): WireRequest
  /** The reply with what an event of the stream adds. */
  readEvent(reply: Reply, event: JsonRecord): Reply
  readWhole(answer: JsonRecord): Reply
}

type FieldName = keyof SectionTexts['playground']['fields']

export interface Field {
  readonly name: FieldName
  /** A text of several lines or one, a choice, or a number. */
  readonly input: 'lines' | 'line' | 'choice' | 'number'
  readonly choices?: readonly string[]
  readonly initial: string
}

/** A file that is asked for. */
export interface FileField {
  readonly name: keyof SectionTexts['playground']['files']
  /** Types, as a browser's choice of files takes them. */
  readonly accept: string
  /** The call can be made without it. */
  readonly optional?: true
}

/** What an answer is shown with. */
export interface AnswerProps {
  readonly request: WireRequest
  /** Empty where the answer is a file. */
  readonly answer: JsonRecord
  readonly file: Blob | undefined
  /** Asks the gateway for something that belongs to the answer, with the key of the call. */
  readonly get: (path: string) => Promise<Response>
}

/** One asks once, and gets one answer. */
export interface FormKind extends Named {
  readonly form: 'form'
  readonly id: keyof SectionTexts['playground']['kinds']
  readonly fields: readonly Field[]
  /** Absent: none is asked for. */
  readonly files?: readonly FileField[]
  request(model: string, values: Readonly<Record<string, string>>, files: Files): WireRequest
  readonly Answer: (props: AnswerProps) => ReactNode
  /** Where the work stands while the answer is awaited, 0 to 100; undefined: it is not known. */
  readonly progress?: (get: AnswerProps['get']) => Promise<number | undefined>
}

export type Kind = ConversationKind | FormKind
