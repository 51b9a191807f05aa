/**
 * SQL: why a step failed or was cancelled, and whether its command is known to have ended. `error_message` of a step holds the
 * cause alone, because the confirmation comes later.
 */
export const stepError = (step: string) =>
  `${step}.error_message || CASE ${step}.end_confirmed WHEN true THEN '; it was ended'
                                   WHEN false THEN '; its end is not confirmed' ELSE '' END`
