import type { UseFormReturnType } from '@mantine/form'
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { type FieldsOfCodes, useFieldProblems } from '../page/use-problem.ts'

interface Submit<Values, Answer> {
  readonly send: (values: Values) => Promise<Answer>
  readonly onDone: (answer: Answer, values: Values) => void
  /** The field of an error that names none, by its code. */
  readonly fields?: FieldsOfCodes
  /** Maps the gateway's field path to that of the form; the same when absent. */
  readonly placeOf?: (path: string) => string
}

/** Sends a form; errors are shown beside their fields, the rest in `problem`. */
export function useSubmit<Values extends Record<string, unknown>, Answer>(
  form: UseFormReturnType<Values>,
  { send, onDone, ...places }: Submit<Values, Answer>,
) {
  const fieldProblems = useFieldProblems()
  const [problem, setProblem] = useState<string>()
  const sending = useMutation({
    mutationFn: send,
    onMutate: () => setProblem(undefined),
    onSuccess: onDone,
    onError: (error) => setProblem(fieldProblems(form, error, places)),
  })
  return {
    problem,
    isPending: sending.isPending,
    submit: form.onSubmit((values) => sending.mutate(values)),
  }
}
