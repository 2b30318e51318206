/** A field before and after. */
export interface FieldDifference {
  readonly field: string
  readonly from?: unknown
  readonly to?: unknown
}
