import sheet from '../forms/sheet.module.css'
import { Icon } from '../marks/icon.tsx'
import { Note } from '../page/problem.tsx'
import { useCodeText } from '../page/use-problem.ts'
import { Amount } from '../values/amount.tsx'
import { useFormat } from '../values/format.ts'
import styles from './call-sheet.module.css'
import type { Explained } from './explain.ts'
import { useSkipReason } from './use-skip-reason.ts'
import { useTranslation } from '../../texts/use-translation.ts'

/** The explanation: the refusal and its reason, or what would be held and the chains in order. */
export function Explanation({ of }: { readonly of: Explained }) {
  const { t } = useTranslation()
  const codeText = useCodeText()
  const { refusal, hold, routes } = of
  return (
    <div className={styles.explanation} role="status">
      {refusal !== null && (
        <Note tone="bad">
          {t('explain.refused', {
            status: refusal.status,
            message: codeText(refusal.code) ?? refusal.message,
          })}
        </Note>
      )}
      {hold !== null && (
        <p className={sheet.note}>
          {t(`explain.paidBy.${hold.paid_by}`)} <Amount value={hold.credits} digits={6} />
        </p>
      )}
      <ol className={styles.routes}>
        {routes.flatMap(({ model, role, chains, skipped }) => [
          ...chains.map((chain, index) => (
            <li key={`${model} ${chain.chain_id}`}>
              <Icon name={index === 0 && role === 'requested' ? 'right' : 'fellBack'} size={14} />
              <span>
                {chain.vendor_code} · {chain.forward_model_id}
                <span>
                  {[
                    chain.protocol,
                    t('explain.priority', { priority: chain.priority, why: chain.why }),
                    t(`explain.conversions.${chain.conversion.kind}`),
                    ...(role === 'fallback' ? [t('explain.fallback', { model })] : []),
                  ].join(' · ')}
                </span>
              </span>
            </li>
          )),
          ...skipped.map(({ chain_id, vendor_code, reason, until }) => (
            <Skipped key={`skipped ${chain_id}`} vendor={vendor_code} reason={reason} until={until} />
          )),
        ])}
      </ol>
      <p className={sheet.note}>{t('explain.hint')}</p>
    </div>
  )
}

interface SkippedProps {
  readonly vendor: string
  readonly reason: string
  readonly until: string | null
}

function Skipped({ vendor, reason, until }: SkippedProps) {
  const { t } = useTranslation()
  const format = useFormat()
  const why = useSkipReason()(reason)
  return (
    <li data-skipped>
      <Icon name="paused" size={14} />
      <span>
        {vendor}
        <span>
          {until === null
            ? t('explain.skipped', { reason: why })
            : t('explain.skippedUntil', { reason: why, moment: format.recent(until) })}
        </span>
      </span>
    </li>
  )
}
