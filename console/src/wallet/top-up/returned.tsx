import { ActionIcon } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useEffect } from 'react'
import { useOrganisationId } from '../../api/session.ts'
import { topUpQuery } from '../../api/wallet.ts'
import { Icon } from '../../parts/marks/icon.tsx'
import { Note } from '../../parts/page/problem.tsx'
import { useFormat } from '../../parts/values/format.ts'
import { useRefreshMoney } from '../use-refresh.ts'
import styles from '../wallet.module.css'
import { worthWords } from '../worth.ts'
import { useCurrencySign } from '../../parts/values/use-currency.ts'
import { useTranslation } from '../../texts/use-translation.ts'

/** How often to check whether the payment was confirmed. */
const LOOK_MS = 2_000

interface ReturnedProps {
  /** The id of the top-up. */
  readonly id: string
  readonly onClose: () => void
}

/** The outcome of a payment, after returning from the payment page. */
export function Returned({ id, onClose }: ReturnedProps) {
  const { t } = useTranslation()
  const sign = useCurrencySign()
  const format = useFormat()
  const refresh = useRefreshMoney()
  const { data: topUp } = useQuery({
    ...topUpQuery(id, useOrganisationId()),
    refetchInterval: ({ state }) => (state.data?.status === 'open' ? LOOK_MS : false),
  })
  const status = topUp?.status
  useEffect(() => {
    if (status === 'paid') refresh()
    // Once for each state: the refresh function changes with every render.
    // oxlint-disable-next-line react-hooks/exhaustive-deps
  }, [status])
  if (topUp === undefined) return null
  return (
    <div className={styles.returned} role="status">
      <Note
        tone={topUp.status === 'open' || topUp.status === 'paid' ? 'info' : 'warning'}
        action={
          <ActionIcon size="sm" aria-label={t('close')} onClick={onClose}>
            <Icon name="close" />
          </ActionIcon>
        }
      >
        {topUp.status === 'paid'
          ? t('wallet.paid', { worth: worthWords(topUp.booked, { format, sign }) })
          : t('wallet.unpaid', { status: t(`wallet.topUpStates.${topUp.status}`) })}
      </Note>
    </div>
  )
}
