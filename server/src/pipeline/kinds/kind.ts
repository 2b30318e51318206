/**
 * What an endpoint of the gateway is, as data: which paths lead to it, and what a call takes from its account. One file
 * per kind beside this one, one line each in `index.ts`; the stages and the router handle any kind.
 */
import type { Estimate } from '../../core/ledger/operations.ts'
import type { Catalogue, ChainProtocol, Model, PassedFormId } from '../../core/catalogue.ts'
import type { JsonObject, JsonValue } from '../../core/json.ts'
import type { Counts } from '../../core/metering/quantities.ts'
import type { RequestText } from '../../core/metering/request-text.ts'
import type { AnswerForm } from '../../core/passthrough/answers/compiled-answers.ts'
import type { FormReading } from '../../core/passthrough/requests/form-scan.ts'
import type { RequestForm } from '../../core/passthrough/requests/request-form.ts'
import type { ScannedRequest } from '../../core/passthrough/requests/scanned-request.ts'
import type { ChainObservations } from '../instance/chains/chain-observations.ts'

export interface EndpointKind {
  readonly id: string
  readonly paths: readonly EndpointPath[]
  /**
   * `exchange`: answered while the client waits. `task`: an order that continues without its client. `count` and
   * `stored`: free questions.
   */
  readonly flow: 'exchange' | 'task' | 'count' | 'stored'
  /** Chains of these protocols can answer its calls, unchanged or converted. */
  readonly chains: readonly ChainProtocol[]
  /** What one call counts in the limit windows, by its estimate; absent: nothing. */
  readonly counts?: (estimate: Estimate) => Counts
  /**
   * What an exchange will probably use, and its maximum, which is held. Absent: nothing is held, or the order itself
   * determines it.
   */
  readonly estimate?: (model: Model, call: EstimatedCall, parts: EstimateParts) => Estimate
  /** Why a request is refused before anything is held, as a message for the client; undefined: it is not. Absent: never. */
  readonly refuses?: (scan: ScannedRequest) => string | undefined
  /** What is read from bodies that are forms (multipart/form-data); absent: every body is JSON. */
  readonly forms?: FormReading
  /** The wire form of a kind that is passed on unchanged; absent: its calls speak protocols. */
  readonly form?: PassedForm
}

/** A wire form that is never converted. */
export interface PassedForm {
  readonly id: PassedFormId
  /** What is read from a request as it passes: its model, and what determines the hold. */
  readonly requests: RequestForm
  /** What is read from an answer as it passes: its model, its usage, an error. */
  readonly answers: AnswerForm
  /** The text of a body that the model reads: counted if the upstream reports no usage. */
  readonly text: (body: JsonValue) => RequestText
  /** For calls that make images: output tokens of one image if a vendor that bills tokens reports none. */
  readonly tokensPerImage?: number
  /** For calls that make images: more than a vendor makes in one call; what it reports beyond is not believed. */
  readonly imagesMax?: number
  /**
   * Answers are not JSON, or need not be: their bytes are passed on as received. If the upstream reports no output, the
   * estimate counts, however much has arrived. `only`: a JSON document is not an answer. Absent: answers are documents.
   */
  readonly answersInBytes?: 'only' | 'too'
  /** Its requests are forms with sound files, whose duration is measured. */
  readonly listens?: true
  /** The smallest request, without its model: used by `explain`, and to test a chain. */
  readonly smallest: JsonObject
  /** Its file, if requests are forms. */
  readonly smallestFile?: { readonly field: string; readonly name: string; readonly content: Uint8Array }
}

/** The part of a received call that determines its size. */
export interface EstimatedCall {
  readonly scan: ScannedRequest
  readonly past?: { readonly kind: 'upstream' | 'kept' }
  /** Epoch ms. */
  readonly at: number
  readonly endpoint: { readonly protocol: ChainProtocol }
}

export interface EstimateParts {
  readonly catalogue: Catalogue
  readonly observations: Pick<ChainObservations, 'trustsCap'>
}

/** A request line that leads to a kind. */
export interface EndpointPath {
  /** The allowed methods, as a 405 names them. */
  readonly methods: readonly Method[]
  /** Also accepts HEAD, like GET. */
  readonly head?: true
  /**
   * As the contract and the log write it. `{name}` stands for a segment; before a colon it stands for any text, because
   * model ids may hold slashes.
   */
  readonly path: string
  /** The log has the values instead of their names. */
  readonly logged?: 'values'
  /** Pattern of a value, if it is not just any segment. */
  readonly values?: Readonly<Record<string, RegExp>>
  /** The protocol of its clients. */
  readonly protocol: ChainProtocol
  /** The operation, if a kind has several paths. */
  readonly action?: string
  /** Bodies may be forms, as the kind reads them. Absent: only JSON is accepted here, even if the kind reads forms. */
  readonly forms?: true
  /** The path says whether to stream; absent: the body does. */
  readonly stream?: boolean
  /** Streams are SSE only on request (`alt=sse`). */
  readonly sseOnDemand?: true
}

export type Method = 'GET' | 'POST' | 'DELETE' | 'HEAD'

/** What a request line says, once its path is known. */
export interface Asked {
  readonly method: string
  readonly action: string | undefined
  /** Values by their names in the path. */
  readonly values: Readonly<Record<string, string>>
  /** As received, without the question mark. */
  readonly query: string
}
