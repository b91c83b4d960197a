# The schema of this release, the logins and the administrator. Run it before the roles, which wait for it, and for each
# release; safe to repeat. `deploy/nomad/README.md` says what is needed.
variable "datacenters" {
  type    = list(string)
  default = ["*"]
}

variable "driver" {
  type        = string
  default     = "raw_exec"
  description = "raw_exec, or exec where /opt/weft and the home are in its chroot_env"
}

variable "user" {
  type        = string
  default     = "weft"
  description = "As whom it runs on the node; the home is this user's"
}

variable "weft" {
  type        = string
  default     = "/opt/weft"
  description = "On each node: bin/weft, and prepare.py, wait.py and health.py in share/"
}

variable "database" {
  type        = string
  default     = "postgres.service.consul:5432/weft"
  description = "HOST[:PORT]/NAME of the database, and its options"
}

job "weft-prepare" {
  type        = "batch"
  datacenters = var.datacenters

  group "prepare" {
    restart {
      attempts = 10
      delay    = "5s"
    }

    task "prepare" {
      driver = var.driver
      user   = var.user
      config {
        command = "${var.weft}/bin/python"
        args    = ["${var.weft}/share/prepare.py"]
      }
      env {
        WEFT_HOME = "${NOMAD_TASK_DIR}"
      }
      template {
        destination = "secrets/env"
        env         = true
        data        = <<END
{{ with nomadVar "nomad/jobs/weft-prepare" }}WEFT_DATABASE=postgresql://weft_owner:{{ .OWNER_PASSWORD }}@${var.database}
API_PASSWORD={{ .API_PASSWORD }}
DRIVER_PASSWORD={{ .DRIVER_PASSWORD }}
WORKER_PASSWORD={{ .WORKER_PASSWORD }}
ADMIN_TOKEN={{ .ADMIN_TOKEN }}{{ end }}
END
      }
      resources {
        cpu    = 100
        memory = 256
      }
    }
  }
}
