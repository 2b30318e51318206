/** A gateway file's text → checked rows, or every mistake in it. Nothing here changes stored data. */
import { say } from '../../core/sentences/say.ts'
import type { Catalogue } from '../../core/catalogue.ts'
import type { Environment } from '../environment.ts'
import { checkRows, type VendorKindRules } from './check-rows.ts'
import type { FileNode, Mistake, Report } from './file-node.ts'
import type { GatewayFile } from './gateway-file.ts'
import { openMap } from './map-reader.ts'
import { parseFile } from './parse.ts'
import { readAccount, readPlan, readSettings } from './read-accounts.ts'
import { readGroup, readModel } from './read-models.ts'
import { readVendor } from './read-vendors.ts'
import { list } from './values.ts'

export interface LoadOptions extends CheckOptions {
  readonly text: string
  readonly environment: Environment
}

interface CheckOptions {
  /** Vendor kinds that have a provider. */
  readonly kinds: readonly VendorKindRules[]
  /** The stored catalogue: rows may refer to what is not in the file. */
  readonly known: Catalogue
  readonly missing: 'stays' | 'prune'
  /** The country of phone numbers without a country code, ISO 3166; absent: the code is required. */
  readonly phoneRegion?: string | undefined
}

export type LoadResult =
  | { readonly kind: 'file'; readonly file: GatewayFile; readonly warnings: readonly Mistake[] }
  /** In the order of the file. */
  | { readonly kind: 'mistakes'; readonly mistakes: readonly Mistake[] }

export function loadGatewayFile({ text, environment, ...options }: LoadOptions): LoadResult {
  return checked(options, (report) => {
    let isSilent = true
    const root = parseFile(text, environment, (place, message) => {
      isSilent = false
      report(place, message)
    })
    if (root === undefined && isSilent) report({ line: 1, column: 1, path: '' }, say('is-empty'))
    return root
  })
}

/** A file that was not written as text, such as a row that a request changes; `${NAME}` in it is literal. */
export function loadGatewayNode(root: FileNode, options: CheckOptions): LoadResult {
  return checked(options, () => root)
}

function checked(options: CheckOptions, rootOf: (report: Report) => FileNode | undefined): LoadResult {
  const mistakes: Mistake[] = []
  const report: Report = (place, message) => mistakes.push({ place, message })
  const root = rootOf(report)
  const file = root === undefined ? undefined : readFile(root, options, report)
  const warnings: Mistake[] = []
  const warning: Report = (place, message) => warnings.push({ place, message })
  if (file !== undefined) checkRows(file, options, { mistake: notTwice(mistakes, report), warning })
  if (file !== undefined && mistakes.length === 0) return { kind: 'file', file, warnings }
  return { kind: 'mistakes', mistakes: mistakes.toSorted(byPlace) }
}

function readFile(root: FileNode, options: CheckOptions, report: Report): GatewayFile | undefined {
  const map = openMap(root, report)
  if (map === undefined) return undefined
  const file: GatewayFile = {
    settings: map.optional('settings', readSettings),
    vendors: map.optional('vendors', list(readVendor(options.kinds.map(({ kind }) => kind)))),
    models: map.optional('models', list(readModel)),
    groups: map.optional('groups', list(readGroup)),
    plans: map.optional('plans', list(readPlan)),
    accounts: map.optional('accounts', list(readAccount(options.phoneRegion))),
  }
  map.close()
  return file
}

/** A member that is invalid is not also reported as missing. */
function notTwice(mistakes: readonly Mistake[], report: Report): Report {
  const told = new Set(mistakes.map((mistake) => mistake.place.path))
  return (place, message) => {
    if (!told.has(place.path)) report(place, message)
  }
}

function byPlace(left: Mistake, right: Mistake): number {
  return left.place.line - right.place.line || left.place.column - right.place.column
}
