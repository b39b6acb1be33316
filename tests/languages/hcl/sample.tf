# What runs where.
terraform {
  required_version = ">= 1.5"
}

variable "region" {
  type    = string
  default = "eu-west-1"
}

locals {
  name = "web-${var.region}"
}

resource "aws_instance" "web" {
  ami           = data.aws_ami.image.id
  instance_type = "t3.micro"

  ingress {
    from_port = 80
  }

  user_data = <<-EOT
    #!/bin/sh
    echo ${local.name}
  EOT
}

module "network" {
  source = "./network"
  cidrs  = ["10.0.0.0/16", "10.1.0.0/16"]
}

output "address" {
  value = aws_instance.web.public_ip
}
