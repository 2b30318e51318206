/** How the playground uses an endpoint: one file each in this folder, one line each in the registry. */
import type { ReactNode } from 'react'
import type { SectionTexts } from '../../texts/sections.ts'
import type { Parameters, Reply, Tool, Turn } from '../conversation.ts'
import type { JsonRecord } from '../../parts/values/json.ts'

/** An HTTP request to a model. */
export interface WireRequest {
  readonly path: string
  readonly body: JsonRecord
  /** Files by field name; the request is then a form. Absent: the body is JSON. */
  readonly files?: Files
}

/** By field name. */
export type Files = Readonly<Record<string, File>>

interface Named {
  /** The path, as in a model's `endpoints` in the catalogue. */
  readonly path: string
  /** The call with the vendor's Python library; `KEY` is the placeholder of the key. */
  readonly snippet: (request: WireRequest, baseUrl: string) => string
  readonly library: string
}

/** A conversation: earlier turns are sent with each message. */
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
  /** Adds an event of the stream to the reply. */
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

/** A field for a file. */
export interface FileField {
  readonly name: keyof SectionTexts['playground']['files']
  /** Accepted types, in the format of the `accept` attribute. */
  readonly accept: string
  /** The file is optional. */
  readonly optional?: true
}

/** Properties of the component that shows an answer. */
export interface AnswerProps {
  readonly request: WireRequest
  /** Empty if the answer is a file. */
  readonly answer: JsonRecord
  readonly file: Blob | undefined
  /** Requests something that belongs to the answer, with the key of the call. */
  readonly get: (path: string) => Promise<Response>
}

/** A form with one answer. */
export interface FormKind extends Named {
  readonly form: 'form'
  readonly id: keyof SectionTexts['playground']['kinds']
  readonly fields: readonly Field[]
  /** Absent: no files. */
  readonly files?: readonly FileField[]
  request(model: string, values: Readonly<Record<string, string>>, files: Files): WireRequest
  readonly Answer: (props: AnswerProps) => ReactNode
  /** Progress while waiting for the answer, 0 to 100; undefined: unknown. */
  readonly progress?: (get: AnswerProps['get']) => Promise<number | undefined>
}

export type Kind = ConversationKind | FormKind
