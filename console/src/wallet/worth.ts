import type { Format } from '../parts/values/format.ts'

interface Worth {
  readonly credits: string | null
  readonly yuan: string | null
}

/** The value of something for the account: Credits, balance, or both. */
export function worthWords(
  { credits, yuan }: Worth,
  { format, sign }: { readonly format: Format; readonly sign: string },
): string {
  return [
    ...(credits === null ? [] : [`${format.number(credits, 2)} Credits`]),
    ...(yuan === null ? [] : [`${sign}${format.number(yuan, 2)}`]),
  ].join(' + ')
}
