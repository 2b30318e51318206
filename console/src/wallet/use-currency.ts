import { useQuery } from '@tanstack/react-query'
import { accountQuery, useOrganisationId } from '../api/session.ts'
import { currencySign, useFormat } from '../parts/values/format.ts'

/** Of the balance and of whatever is paid in it, ISO 4217; undefined: the account is not known yet. */
export function useCurrency(): string | undefined {
  return useQuery(accountQuery(useOrganisationId())).data?.currency
}

/** What stands before such an amount in fields and sentences. */
export function useCurrencySign(): string {
  const format = useFormat()
  const currency = useCurrency()
  return currency === undefined ? '' : currencySign(format, currency)
}
