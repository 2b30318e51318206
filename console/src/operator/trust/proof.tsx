import { Button } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { verifyBooks } from '../../api/operator/audit.ts'
import { DataTable } from '../../parts/lists/data-table.tsx'
import { State } from '../../parts/marks/state.tsx'
import { FormProblem, Note } from '../../parts/page/problem.tsx'
import { useProblemText } from '../../parts/page/use-problem.ts'
import operator from '../parts/operator.module.css'
import { useTranslation } from '../../texts/use-translation.ts'

/** Recomputes every balance, hold, charge and entry on request. */
export function Proof() {
  const { t } = useTranslation()
  const problemText = useProblemText()
  const verify = useMutation({ mutationFn: verifyBooks })
  const { data } = verify
  return (
    <section className={operator.proof}>
      <Note
        tone={data?.whole === false ? 'bad' : 'info'}
        action={
          <Button variant="default" size="xs" loading={verify.isPending} onClick={() => verify.mutate()}>
            {t('trust.verify')}
          </Button>
        }
      >
        {data === undefined ? (
          t('trust.verifyHint')
        ) : data.whole ? (
          <State icon="done" tone="good">
            {t('trust.whole')}
          </State>
        ) : (
          t('trust.broken', { count: data.differences.length })
        )}
      </Note>
      <FormProblem text={verify.error === null ? undefined : problemText(verify.error)} />
      {data !== undefined && !data.whole && (
        <DataTable
          label={t('trust.differences')}
          rows={data.differences}
          idOf={({ subject, what }) => `${subject} ${what}`}
          columns={[
            { id: 'subject', head: t('trust.subject'), cell: ({ subject }) => <code>{subject}</code> },
            { id: 'what', head: t('trust.field'), cell: ({ what }) => what },
            { id: 'expected', head: t('trust.expected'), cell: ({ expected }) => <code>{expected}</code> },
            { id: 'found', head: t('trust.found'), cell: ({ found }) => <code>{found}</code> },
          ]}
        />
      )}
    </section>
  )
}
