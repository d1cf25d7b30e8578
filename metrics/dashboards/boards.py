"""The dashboards that the chart ships. A new one is a file beside this and a line here."""

import fleet
import job
import operator_process
import ps_load

BOARDS = (fleet.BOARD, job.BOARD, ps_load.BOARD, operator_process.BOARD)
