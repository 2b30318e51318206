import { usePerson } from '../../api/session.ts'
import { useFormat } from './format.ts'

/** Of balances and of whatever is paid in it, ISO 4217: one for the whole gateway. */
export function useCurrency(): string {
  return usePerson().currency
}

/** What stands before such an amount in fields and sentences. */
export function useCurrencySign(): string {
  return useFormat().sign(useCurrency())
}
