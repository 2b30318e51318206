import type { Call } from '../../api/calls.ts'
import tags from '../marks/tag.module.css'
import { Tip } from '../page/tip.tsx'
import { Amount } from '../values/amount.tsx'
import { isZero } from '../values/decimal.ts'
import { useFormat } from '../values/format.ts'
import styles from './cost.module.css'
import { useTranslation } from '../../texts/use-translation.ts'

type Priced = Pick<Call, 'amount' | 'deducted' | 'byok' | 'subscription_covered'>

/** The cost of a call, and why it is less than its value. */
export function Cost({ call }: { readonly call: Priced }) {
  const { t } = useTranslation()
  const format = useFormat()
  if (!isZero(call.deducted) || isZero(call.amount)) return <Amount value={call.deducted} />
  const { whole, fraction } = format.split(call.amount, 2)
  return (
    <Tip label={t(call.byok ? 'cost.byokHint' : 'cost.freeHint', { amount: call.amount })}>
      <span className={styles.free} tabIndex={0}>
        <span className={tags.tag}>{t(call.byok ? 'cost.byok' : 'cost.free')}</span> {whole}
        {fraction}
      </span>
    </Tip>
  )
}
