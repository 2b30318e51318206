/**
 * What a request asks for besides text: fields that cost extra, tools that run at the vendor, and input the gateway
 * cannot see.
 */
import { ROUNDS_OF_TOOLS, TOOL_USES_MAX } from '../../metering/possible-usage.ts'
import type { JsonKind } from '../json-scanner.ts'

export interface RequestExtras {
  /** Fields that cost extra at some vendor, each with its value if that is plain: `service_tier.priority`. */
  readonly extraCostFields: readonly string[]
  /** Types of tools that run at the vendor, without the date of their version: `web_search`, `code_interpreter`. */
  readonly hostedTools: readonly string[]
  /** How often those tools may be used at most; 0: there are none. */
  readonly toolUsesMax: number
  /** The model also reads files, kept conversations or caches upstream, whose length is not known here. */
  readonly unseenInput: boolean
}

export const NO_EXTRAS: RequestExtras = {
  extraCostFields: [],
  hostedTools: [],
  toolUsesMax: 0,
  unseenInput: false,
}

/** Duplicates are kept once; no real request has more different names. */
const NAMES_MAX = 64
/** No known value is longer. */
export const VALUE_BYTES_MAX = 128

/** Types of tools the client runs itself. Whatever is not known to be one of them runs at the vendor. */
const OWN_TOOLS: ReadonlySet<string> = new Set([
  'function',
  'custom',
  'local_shell',
  'apply_patch',
  'bash',
  'text_editor',
  'computer',
  'memory',
  'namespace',
])

/** Content whose number of tokens is not limited by its bytes: pages and frames are compressed. */
const UNSEEN_TYPES =
  /^(file|input_file|document|container_upload|video_url|input_video|video|item_reference|compaction|application\/.*|video\/.*)$/

export class ExtrasReading {
  readonly #extraCostFields = new Set<string>()
  readonly #hostedTools = new Set<string>()
  /** Sum over all tools so far, and the one that is being read. */
  #toolUsesMax = 0
  #toolIsHosted = false
  #toolUses: number | undefined
  /** The client's own limit for all tools together. */
  #usesCap: number | undefined
  #unseenInput = false

  /** `text`: the value, if it is a string. */
  extraCostField(name: string, kind: JsonKind, text: string | undefined): void {
    if (isOff(kind)) return
    const value = kind === 'true' ? 'true' : text
    const plain = value !== undefined && /^[\w:.-]{1,100}$/.test(value)
    addTo(this.#extraCostFields, plain ? `${snakeCase(name)}.${value.toLowerCase()}` : snakeCase(name))
  }

  hostedTool(name: string, kind: JsonKind): void {
    if (isOff(kind)) return
    addTo(this.#hostedTools, snakeCase(name))
    this.#raiseUses(undefined)
  }

  toolType(text: string | undefined): void {
    if (text === undefined || OWN_TOOLS.has(text)) return
    const type = text.toLowerCase().replace(/_\d{6,8}$|_preview(_\d{4}(_\d\d){2})?$/, '')
    if (OWN_TOOLS.has(type) || type.startsWith('tool_search')) return
    addTo(this.#hostedTools, type)
    this.#toolIsHosted = true
  }

  /** How often the tool that is being read may be used; of two limits the larger counts. */
  toolUses(count: number | undefined): void {
    this.#toolUses = Math.max(this.#toolUses ?? 0, count ?? ROUNDS_OF_TOOLS)
  }

  /** A tool has been read completely. */
  toolEnd(): void {
    if (this.#toolIsHosted) this.#raiseUses(this.#toolUses)
    this.#toolIsHosted = false
    this.#toolUses = undefined
  }

  /** The limit for all tools together; of two the larger counts. */
  usesCap(count: number | undefined): void {
    this.#usesCap = Math.max(this.#usesCap ?? 0, count ?? ROUNDS_OF_TOOLS)
  }

  #raiseUses(count: number | undefined): void {
    this.#toolUsesMax = Math.max(this.#toolUsesMax, Math.min(count ?? ROUNDS_OF_TOOLS, TOOL_USES_MAX), 1)
  }

  /** The type of a piece of content, or of the bytes in it. */
  contentType(text: string | undefined): void {
    if (text !== undefined && UNSEEN_TYPES.test(text.toLowerCase())) this.#unseenInput = true
  }

  unseenInput(kind: JsonKind): void {
    if (!isOff(kind)) this.#unseenInput = true
  }

  extras(): RequestExtras {
    const nothing = this.#extraCostFields.size + this.#hostedTools.size === 0
    if (nothing && !this.#unseenInput) return NO_EXTRAS
    return {
      extraCostFields: [...this.#extraCostFields],
      hostedTools: [...this.#hostedTools],
      toolUsesMax: this.#toolUsesMax === 0 ? 0 : Math.min(this.#usesCap ?? this.#toolUsesMax, TOOL_USES_MAX),
      unseenInput: this.#unseenInput,
    }
  }
}

function isOff(kind: JsonKind): boolean {
  return kind === 'null' || kind === 'false'
}

function addTo(names: Set<string>, name: string): void {
  if (names.size < NAMES_MAX) names.add(name)
}

/** Gemini accepts both spellings of a name. */
function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}
