import { usePerson } from '../../api/session.ts'
import { useFormat } from './format.ts'

/** The gateway's currency, ISO 4217, for balances and payments. */
export function useCurrency(): string {
  return usePerson().currency
}

/** The sign of the currency, for fields and sentences. */
export function useCurrencySign(): string {
  return useFormat().sign(useCurrency())
}
