import { Button } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { useOrganisationId } from '../api/session.ts'
import styles from '../parts/calls/call-sheet.module.css'
import type { LoggedCall } from '../parts/calls/log-source.ts'
import { Problem } from '../parts/page/problem.tsx'
import { explainAgain, isExplained } from './explain.ts'
import { Explanation } from './explanation.tsx'

/** What would become of the same call now, where the gateway can say it. */
export function ExplainPart({ call }: { readonly call: LoggedCall }) {
  const { t } = useTranslation()
  const organisation = useOrganisationId()
  const explain = useMutation({ mutationFn: () => explainAgain(call, organisation) })
  if (!isExplained(call)) return null
  return (
    <section className={styles.part}>
      <div className={styles.partHead}>
        <h3>{t('explain.title')}</h3>
        <Button variant="default" size="xs" loading={explain.isPending} onClick={() => explain.mutate()}>
          {t('explain.again')}
        </Button>
      </div>
      {explain.error !== null && <Problem error={explain.error} />}
      {explain.data !== undefined && <Explanation of={explain.data} />}
    </section>
  )
}
