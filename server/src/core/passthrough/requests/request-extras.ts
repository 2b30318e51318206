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
  /** How often those tools may be used at most; 0: none is offered. */
  readonly toolUsesMax: number
  /** Files, kept conversations and caches that are read upstream: how long they are is not known here. */
  readonly unseenInput: boolean
}

export const NO_EXTRAS: RequestExtras = {
  extraCostFields: [],
  hostedTools: [],
  toolUsesMax: 0,
  unseenInput: false,
}

/** What is asked for twice is kept once; nobody asks for more different things than this. */
const NAMES_MAX = 64
/** Longer values name nothing. */
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

/** Content whose tokens its bytes do not bound: pages and frames are packed. */
const UNSEEN_TYPES =
  /^(file|input_file|document|container_upload|video_url|input_video|video|item_reference|compaction|application\/.*|video\/.*)$/

export class ExtrasReading {
  readonly #extraCostFields = new Set<string>()
  readonly #hostedTools = new Set<string>()
  /** Over all tools so far, and of the one that is being read. */
  #toolUsesMax = 0
  #toolIsHosted = false
  #toolUses: number | undefined
  /** Of all tools together, as the client bounds them. */
  #usesCap: number | undefined
  #unseenInput = false

  /** `text`: of a string. */
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
    if (text === undefined) return
    const type = text.toLowerCase().replace(/_\d{6,8}$|_preview(_\d{4}(_\d\d){2})?$/, '')
    if (OWN_TOOLS.has(type) || type.startsWith('tool_search')) return
    addTo(this.#hostedTools, type)
    this.#toolIsHosted = true
  }

  /** How often the tool that is being read may be used; a bound that is told twice is the larger. */
  toolUses(count: number | undefined): void {
    this.#toolUses = Math.max(this.#toolUses ?? 0, count ?? ROUNDS_OF_TOOLS)
  }

  /** A tool has been read. */
  toolEnd(): void {
    if (this.#toolIsHosted) this.#raiseUses(this.#toolUses)
    this.#toolIsHosted = false
    this.#toolUses = undefined
  }

  /** All tools together; likewise. */
  usesCap(count: number | undefined): void {
    this.#usesCap = Math.max(this.#usesCap ?? 0, count ?? ROUNDS_OF_TOOLS)
  }

  #raiseUses(count: number | undefined): void {
    this.#toolUsesMax = Math.max(this.#toolUsesMax, Math.min(count ?? ROUNDS_OF_TOOLS, TOOL_USES_MAX), 1)
  }

  /** Of a piece of content, or of the bytes in it. */
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

/** Gemini takes both spellings of a name. */
function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}
