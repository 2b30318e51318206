/**
 * What an endpoint of the gateway is, as data: which paths lead to it, and what a call over it takes of
 * its account. One file a kind beside this one, one line each in `index.ts`; the stages and the router of paths take any.
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
   * `exchange`: answered while the client waits. `task`: an order, which goes on without its client. `count` and `stored`:
   * questions, which are free.
   */
  readonly flow: 'exchange' | 'task' | 'count' | 'stored'
  /** Chains of these protocols can answer its calls, as they are or converted. */
  readonly chains: readonly ChainProtocol[]
  /** What one call counts in the windows of limits, by what it is thought to use; absent: nothing. */
  readonly counts?: (estimate: Estimate) => Counts
  /** What an exchange will likely use, and at the most; that is held. Absent: nothing is held, or an order says it itself. */
  readonly estimate?: (model: Model, call: EstimatedCall, parts: EstimateParts) => Estimate
  /** What of a request is refused before anything is held, told to its client; undefined: nothing. Absent: nothing ever is. */
  readonly refuses?: (scan: ScannedRequest) => string | undefined
  /** What is read of bodies that are forms (multipart/form-data); absent: every body is JSON. */
  readonly forms?: FormReading
  /** Of a kind that is passed on as it is, in a wire form of its own; absent: its calls speak protocols. */
  readonly form?: PassedForm
}

/** A wire form that nothing converts. */
export interface PassedForm {
  readonly id: PassedFormId
  /** What is read of a request as it passes: its model, and what sizes the hold. */
  readonly requests: RequestForm
  /** What is read of an answer as it passes: its model, its usage, an error. */
  readonly answers: AnswerForm
  /** What of a body the model reads: counted where the upstream tells no usage. */
  readonly text: (body: JsonValue) => RequestText
  /** Of calls that make images: output tokens of one, where a vendor that bills tokens tells none. */
  readonly tokensPerImage?: number
  /**
   * Answers are no JSON, or may be another text: their bytes pass as they come. Where the upstream tells no output, it is what
   * the estimate says, however much of it has come. `only`: a document is no answer. Absent: answers are documents.
   */
  readonly answersInBytes?: 'only' | 'too'
  /** It is about the sound in the files of its requests, which are forms: how long that plays is measured. */
  readonly listens?: true
  /** The smallest request, without its model: `explain` asks about it, and a chain is tried with it. */
  readonly smallest: JsonObject
  /** Its file, where requests are forms. */
  readonly smallestFile?: { readonly field: string; readonly name: string; readonly content: Uint8Array }
}

/** A received call, as far as its size depends on it. */
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
  /** Those that it takes, as a 405 names them. */
  readonly methods: readonly Method[]
  /** Also takes HEAD, like GET. */
  readonly head?: true
  /**
   * As the contract writes it, and as the log has it. `{name}` stands for a segment; in front of a colon for any text, since
   * ids of models may hold slashes.
   */
  readonly path: string
  /** The log has the values instead of their names. */
  readonly logged?: 'values'
  /** What a value looks like, where it is not just any segment. */
  readonly values?: Readonly<Record<string, RegExp>>
  /** What its client speaks. */
  readonly protocol: ChainProtocol
  /** What is asked, where a kind has several paths. */
  readonly action?: string
  /** Bodies may be forms, as the kind reads them. Absent: where the kind takes forms, only JSON comes here. */
  readonly forms?: true
  /** The path says whether to stream; absent: the body does. */
  readonly stream?: boolean
  /** Streams are SSE only when asked for (`alt=sse`). */
  readonly sseOnDemand?: true
}

export type Method = 'GET' | 'POST' | 'DELETE' | 'HEAD'

/** What a request line says, once its path is known. */
export interface Asked {
  readonly method: string
  readonly action: string | undefined
  /** By the names in the path. */
  readonly values: Readonly<Record<string, string>>
  /** As it came, without the question mark. */
  readonly query: string
}
